package policy

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/rollout"
	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// shadowOf returns the statistics of the candidate for policy p.
func shadowOf(p *Engine) api.PolicyShadow {
	for _, set := range p.Sets() {
		for i := range set.Policies {
			if x := set.Policies[i].Shadow; x != nil {
				return *x
			}
		}
	}
	return api.PolicyShadow{}
}

// compared waits until the candidate was asked or skipped n times.
func compared(t *testing.T, p *Engine, n uint64) api.PolicyShadow {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		x := shadowOf(p)
		if x.Decisions+x.Skipped >= n {
			return x
		}
		if time.Now().After(end) {
			t.Fatalf("got %+v", x)
		}
	}
}

func TestACandidateJudgesBesideThePolicyAndChangesNothing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		inForce, candidate string
		// more and candidates are further keys of the policy's and the candidate's documents.
		more, candidates string
		different        uint64
		candidateSaid    string
	}{
		"the same":                        {"deny No never", "deny No never", "", "", 0, ""},
		"other words":                     {"deny No never", "deny No other words", "", "", 0, ""},
		"another answer":                  {"deny No never", "allow", "", "", 1, "allow"},
		"another reason":                  {"deny No never", "deny Never never", "", "", 1, "deny Never: never"},
		"a failure":                       {"allow", "trap no", "", "", 1, "hold PolicyFailed: the plugin failed with Trap: no"},
		"a failure of both":               {"trap no", "trap no", "", "", 0, ""},
		"a plugin without an instance":    {"allow", "unready", "", "", 0, ""},
		"one that does not match":         {"deny No never", "deny No never", "", "[match]\nnamespaces = [\"other\"]", 1, "abstain"},
		"one that matches instead":        {"deny No never", "deny No never", "[match]\nnamespaces = [\"other\"]", "", 1, "deny No: never"},
		"one that abstains, and no match": {"abstain", "deny No never", "", "[match]\nnamespaces = [\"other\"]", 0, ""},
		"a condition that cannot be told": {"allow", "allow", "", "[match]\nconditions = [\"object.metadata.labels['x'] == 'y'\"]", 1, "hold PolicyFailed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, s := policytest.NewTree(t), policytest.NewScripts()
			d.Policy("p", test.inForce, test.more)
			d.Candidate(test.candidate, test.candidates)
			p := New(testConfig(d, s))
			run(t, p)
			v := ask(t, p, policytest.Question("web"))
			without := policytest.NewTree(t)
			without.Policy("p", test.inForce, test.more)
			alone := New(testConfig(without, policytest.NewScripts()))
			run(t, alone)
			want := ask(t, alone, policytest.Question("web"))
			v.Sets, want.Sets, v.At, want.At = nil, nil, policytest.Instant, policytest.Instant
			if diff := cmp.Diff(want, v); diff != "" {
				t.Errorf("the verdict is another one with a candidate (-without +with):\n%s", diff)
			}
			x := compared(t, p, 1)
			if x.Different != test.different || test.different > 0 && x.Decisions != 1 {
				t.Errorf("got %+v", x)
			}
			if test.different > 0 {
				if got := string(x.Differences[0].Candidate) + " " + x.Differences[0].CandidateSaid; !strings.HasPrefix(strings.TrimSpace(got), test.candidateSaid) {
					t.Errorf("it said %q", got)
				}
			}
		})
	}
}

func TestWhatACandidateMakesOfThePodIsComparedAsAWhole(t *testing.T) {
	t.Parallel()
	long := func(last string) string {
		var text strings.Builder
		text.WriteString("[")
		for i := range 80 {
			fmt.Fprintf(&text, `{"op":"add","path":"/metadata/labels/some-label-%d","value":"%s"},`, i, strings.Repeat("v", 30))
		}
		return text.String() + last[1:]
	}
	for name, test := range map[string]struct {
		inForce, candidate, more string
		// said has both messages, separated by "|", if the answers differ.
		said string
	}{
		"the same":                                    {policytest.ToLabel("by", "a"), policytest.ToLabel("by", "a"), "", ""},
		"another value":                               {policytest.ToLabel("by", "a"), policytest.ToLabel("by", "b"), "", "changes the pod|changes the pod"},
		"another one after what is shown":             {long(policytest.ToLabel("by", "a")), long(policytest.ToLabel("by", "b")), "", "changes the pod|changes the pod"},
		"the same, after what is shown":               {long(policytest.ToLabel("by", "a")), long(policytest.ToLabel("by", "a")), "", ""},
		"one that cannot be applied":                  {policytest.ToLabel("by", "a"), strings.Replace(policytest.ToLabel("by", "a"), "add", "replace", 1), "", "|PolicyFailed: the plugin failed"},
		"the same with something that is so":          {policytest.ToLabel("by", "a"), strings.Replace(policytest.ToLabel("tier", "web"), "]", ","+policytest.ToLabel("by", "a")[1:], 1), "", ""},
		"none":                                        {policytest.ToLabel("by", "a"), "", "", "changes the pod|changes nothing"},
		"none beside one that changes nothing":        {policytest.ToLabel("tier", "web"), "", "", ""},
		"another value in a mode that does not count": {policytest.ToLabel("by", "a"), policytest.ToLabel("by", "b"), "mode = \"audit\"", "changes the pod|changes the pod"},
		"more than both may":                          {policytest.ToImage("a"), policytest.ToImage("b"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, s := policytest.NewTree(t), policytest.NewScripts()
			d.Policy("p", "allow No "+test.inForce, policytest.LabelsPath, test.more)
			d.Candidate("allow No "+test.candidate, policytest.LabelsPath)
			s.Edit = func(_ string, r *wasm.Result) { r.Patch, r.Reason, r.Message = []byte(r.Message), "", "" }
			p := New(testConfig(d, s))
			run(t, p)
			ask(t, p, policytest.FileQuestion(t))
			x := compared(t, p, 1)
			inForce, candidate, different := strings.Cut(test.said, "|")
			if x.Decisions != 1 || x.Different > 0 != different {
				t.Fatalf("got %+v", x)
			}
			if different && (!strings.HasPrefix(x.Differences[0].InForceSaid, inForce) || !strings.HasPrefix(x.Differences[0].CandidateSaid, candidate)) {
				t.Errorf("said %q and %q", x.Differences[0].InForceSaid, x.Differences[0].CandidateSaid)
			}
		})
	}
}

func TestWhatACandidateMakesOfAWinnerIsCompared(t *testing.T) {
	t.Parallel()
	for candidate, different := range map[string]uint64{"a": 0, "b": 1} {
		d, s := policytest.NewTree(t), policytest.NewScripts()
		d.Write("p.toml", policytest.DocumentIn("p", "winner 0", merging+"\n"+policytest.LabelsPath))
		d.Write("p.wasm", "winner 0")
		text := policytest.DocumentIn("next", "winner 0 # next", merging+"\n"+policytest.LabelsPath+"\nmode = \"shadow\"")
		d.Write("next.toml", strings.Replace(text, `name = "next"`, `name = "p"`, 1))
		d.Write("next.wasm", "winner 0 # next")
		labels := []string{"a", candidate}
		s.Patch = func(string) []byte {
			by := labels[0]
			labels = labels[1:]
			return []byte(policytest.ToLabel("by", by))
		}
		p := New(testConfig(d, s))
		run(t, p)
		c := contested("web")
		for i := range c.Candidates {
			c.Candidates[i].Pod = policytest.FileQuestion(t).Pod
		}
		resolved := make(chan api.Resolution, 1)
		p.Rules().Resolve(c, func(r api.Resolution) { resolved <- r })
		if r := <-resolved; r.Mutation == nil {
			t.Fatalf("got %+v", r)
		}
		if x := compared(t, p, 1); x.Decisions != 1 || x.Different != different {
			t.Errorf("%s: %+v", candidate, x)
		}
	}
}

func TestACandidateThatFailsAsThePolicyDoesIsNoDifference(t *testing.T) {
	t.Parallel()
	const last = `on_error = "last_verdict"`
	exempts := func(c *Config) { c.Exempt = []string{"shop/web"} }
	for name, test := range map[string]struct {
		// before is the script before policy and candidate fail; empty if there was no
		// verdict before.
		before, more, candidates string
		change                   func(*Config)
		different                uint64
		inForce                  api.Answer
	}{
		"of an exempt pod":                       {"", "", "", exempts, 0, api.Allow},
		"of an exempt pod, with another setting": {"", "", last, exempts, 0, api.Allow},
		"what was said before counts":            {"allow", last, last, nil, 0, api.Allow},
		"a denial from before":                   {"deny No never", last, last, nil, 0, api.Deny},
		"nothing was said before":                {"", last, last, nil, 0, api.Hold},
		"only for the policy in force":           {"allow", last, "", nil, 1, api.Allow},
		"only for the candidate":                 {"allow", `on_error = "deny"`, last, nil, 1, api.Deny},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, s := policytest.NewTree(t), policytest.NewScripts()
			c := testConfig(d, s)
			if test.change != nil {
				test.change(&c)
			}
			p := New(c)
			if test.before != "" {
				d.Policy("p", test.before, test.more)
				run(t, p)
				ask(t, p, policytest.Question("web"))
			}
			d.Policy("p", "trap no", test.more)
			d.Candidate("trap no", test.candidates)
			if test.before == "" {
				run(t, p)
			}
			_, err := p.Reload(t.Context(), "")
			policytest.Must(t, err)
			if v := ask(t, p, policytest.Question("web")); v.Answer != test.inForce {
				t.Errorf("verdict %+v", v)
			}
			if x := compared(t, p, 1); x.Decisions != 1 || x.Different != test.different {
				t.Errorf("got %+v", x)
			}
		})
	}
}

func TestWhatACandidateSaysIsNotRemembered(t *testing.T) {
	t.Parallel()
	const last = `on_error = "last_verdict"`
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("p", "allow", last)
	d.Candidate("deny No never", last)
	p := New(testConfig(d, s))
	run(t, p)
	ask(t, p, policytest.Question("web"))
	compared(t, p, 1)
	d.Policy("p", "trap no", last)
	d.Remove("next.toml")
	_, err := p.Reload(t.Context(), "")
	policytest.Must(t, err)
	if v := ask(t, p, policytest.Question("web")); v.Answer != api.Allow {
		t.Errorf("verdict %+v", v)
	}
}

func TestACandidateSeesOfTheNodeWhatThePolicySaw(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		more      string
		different uint64
	}{
		"a policy that looked":         {reads, 0},
		"a policy that sees no node":   {"", 1}, // the quota counts the fifth pod itself
		"a policy that does not match": {reads + "\n[match]\nnamespaces = [\"other\"]", 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				script := "quota 5"
				if test.more == "" {
					script = "allow"
				}
				d.Policy("p", script, test.more)
				d.Candidate("quota 5", reads)
				p, _ := listed(t, d, s, func(c *Config) { c.Facts = (&aNode{}).node() })
				run(t, p)
				for i := range 5 {
					ask(t, p, policytest.Question(fmt.Sprint("web-", i)))
					synctest.Wait()
				}
				if x := shadowOf(p); x.Decisions != 5 || x.Different != test.different || x.Skipped != 0 {
					t.Errorf("got %+v", x)
				}
			})
		})
	}
}

func TestTheBreakerOfACandidateIsItsOwnFailure(t *testing.T) {
	t.Parallel()
	const most = 2 * eval.BreakAfter
	for name, test := range map[string]struct {
		inForce, candidate            string
		decisions, different, skipped uint64
	}{
		"that of the candidate":           {"allow", "trap no", eval.BreakAfter, eval.BreakAfter, 0},
		"that of the policy in force":     {"trap no", "allow", eval.BreakAfter, eval.BreakAfter, eval.BreakAfter},
		"those of both":                   {"trap no", "trap no", eval.BreakAfter, 0, eval.BreakAfter},
		"a candidate without an instance": {"allow", "unready", 0, 0, most},
		"that of a machine which fails":   {"allow", "error out of memory", 0, 0, most},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				d.Policy("p", test.inForce)
				d.Candidate(test.candidate)
				p, _ := listed(t, d, s)
				run(t, p)
				for i := range most {
					ask(t, p, policytest.Question(fmt.Sprint("web-", i%eval.BreakAfter)))
					synctest.Wait()
				}
				if x := shadowOf(p); x.Decisions != test.decisions || x.Different != test.different || x.Skipped != test.skipped {
					t.Errorf("got %+v", x)
				}
			})
		})
	}
}

func TestCandidatesOfEveryHookAreCompared(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Write("p.toml", policytest.DocumentIn("p", "keep No", anyHook))
	d.Write("p.wasm", "keep No")
	text := policytest.DocumentIn("next", "winner 1 Yes", anyHook+"\nmode = \"shadow\"")
	d.Write("next.toml", strings.Replace(text, `name = "next"`, `name = "p"`, 1))
	d.Write("next.wasm", "winner 1 Yes")
	c := testConfig(d, s)
	c.Sources = []string{"cluster", "static"}
	p := New(c)
	run(t, p)
	everyHook(t, p, "web")
	x := compared(t, p, 3)
	said := map[string]api.Answer{}
	for _, d := range x.Differences {
		said[d.Hook] = d.Candidate
	}
	if said["merge"] != "winner a#0 of static" || x.Decisions != 3 {
		t.Errorf("got %+v", x)
	}
}

func TestACandidateIsPaidByNobodyElseAndWaitsWhereItsBudgetIsSpent(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("p", "abstain")
	d.Candidate("deny No never")
	s.AdmitFuel = 3 * sched.MostOf(shadowFuel)
	p := New(testConfig(d, s))
	run(t, p)
	for i, name := range []string{"one", "two"} {
		ask(t, p, policytest.Question(name))
		compared(t, p, uint64(i)+1)
	}
	if x := shadowOf(p); x.Decisions != 1 || x.Skipped != 1 {
		t.Errorf("got %+v", x)
	}
}

func TestAComparisonGoesOnUntilOneOfBothIsAnother(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("p", "allow")
	d.Candidate("deny No never")
	d.Policy("q", "allow")
	p := New(testConfig(d, s))
	run(t, p)
	ask(t, p, policytest.Question("web"))
	compared(t, p, 1)
	for _, step := range []struct {
		name   string
		change func()
		want   uint64
	}{
		{"another policy", func() { d.Policy("q", "abstain") }, 1},
		{"another candidate", func() { d.Candidate("deny Other never") }, 0},
		{"another threshold", func() { d.Candidate("deny Other never", "[shadow]\nmin_decisions = 3") }, 0},
	} {
		step.change()
		_, err := p.Reload(t.Context(), "")
		policytest.Must(t, err)
		if x := shadowOf(p); x.Decisions != step.want {
			t.Errorf("%s: %+v", step.name, x)
		}
		if step.want == 0 {
			ask(t, p, policytest.Question("web"))
			compared(t, p, 1)
		}
	}
}

func TestNoPluginOfACandidateStaysLoadedAtTheEnd(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("p", "allow")
	d.Candidate("allow")
	p := New(testConfig(d, s))
	stop := run(t, p)
	for range 50 {
		ask(t, p, policytest.Question("web"))
	}
	stop()
	if left := s.InUse(); len(left) > 0 {
		t.Errorf("in use: %v", left)
	}
}

func TestACandidateIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"without a policy of its name": {map[string]string{"next": "p"}, `there is no policy "p" in another mode`},
		"beside one that is off":       {map[string]string{"next": "p", "p": "p\nmode = \"off\""}, `there is no policy "p" in another mode`},
		"beside another candidate":     {map[string]string{"next": "p", "other": "p", "p": "p\n"}, `"p" is the name of the policy in next.toml too`},
	} {
		d := policytest.NewTree(t)
		for file, of := range test.files {
			policy, more, inForce := strings.Cut(of, "\n")
			if !inForce {
				more = `mode = "shadow"`
			}
			d.Write(file+".toml", strings.Replace(policytest.DocumentOf(file, "allow", more), `name = "`+file+`"`, `name = "`+policy+`"`, 1))
			d.Write(file+".wasm", "allow")
		}
		_, err := rollout.Check(t.Context(), operatorOf(d, policytest.NewScripts(), ""))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
