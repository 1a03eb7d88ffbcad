package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/replay"
	"github.com/wardlet/wardlet/core/state/decisions"
)

// contested returns a contest between the sources static and cluster. The pod of static runs.
func contested(name string) api.Contest {
	return api.Contest{Identity: types.NamespacedName{Namespace: "shop", Name: name}, Candidates: []api.Candidate{
		{Pod: policytest.SomePod(name), Origin: api.Origin{Source: "static", Document: "a#0", FirstSeen: policytest.Instant}, Running: policytest.SomePod(name)},
		{Pod: policytest.SomePod(name), Origin: api.Origin{Source: "cluster", Document: "b#0", FirstSeen: policytest.Instant}},
	}}
}

// update makes the question one about an update to another image.
func update(q *api.Question) {
	q.Op, q.Old = api.UpdateOp, policytest.SomePod(q.Pod.Name)
	q.Pod = policytest.SomePod(q.Pod.Name, func(p *v1.Pod) { p.Spec.Containers[0].Image = "other" })
}

// everyHook asks once about a new pod, about an update, and about a contest.
func everyHook(t *testing.T, p *Engine, name string) {
	t.Helper()
	ask(t, p, policytest.Question(name))
	q := policytest.Question(name, update)
	passed := make(chan api.FilterVerdict, 1)
	p.Filter(api.FilterQuestion{Op: q.Op, Pod: q.Pod, Old: q.Old, Origin: q.Origin}, func(v api.FilterVerdict) { passed <- v })
	<-passed
	resolved := make(chan api.Resolution, 1)
	p.Rules().Resolve(contested(name), func(r api.Resolution) { resolved <- r })
	<-resolved
}

const anyHook = `hooks = ["admit", "filter", "merge"]`

func TestWhatPoliciesMetBesideTheQuestionIsOnRecord(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// policies has the scripts by policy name; the text after "\n" has further keys.
		policies map[string]string
		change   func(c *Config)
		do       func(t *testing.T, p *Engine, d policytest.Tree)
		// want are parts of opinions and verdicts, each of which must be on record.
		want []string
	}{
		"plugins that fail": {
			map[string]string{"p": "trap no\n" + anyHook},
			nil,
			func(t *testing.T, p *Engine, _ policytest.Tree) { t.Helper(); everyHook(t, p, "web") },
			[]string{"Trap"},
		},
		"a breaker that is open, of every hook": {
			map[string]string{"p": "trap no\n" + anyHook},
			nil,
			func(t *testing.T, p *Engine, _ policytest.Tree) {
				t.Helper()
				for range eval.BreakAfter {
					everyHook(t, p, "web")
				}
			},
			[]string{"Trap", "BreakerOpen"},
		},
		"a plugin without an instance": {
			map[string]string{"p": "unready"},
			nil,
			func(t *testing.T, p *Engine, _ policytest.Tree) { t.Helper(); ask(t, p, policytest.Question("web")) },
			[]string{"NotReady"},
		},
		"a machine that fails": {
			map[string]string{"p": "error the disk is gone", "q": "unwell"},
			nil,
			func(t *testing.T, p *Engine, _ policytest.Tree) {
				t.Helper()
				for range 3 {
					ask(t, p, policytest.Question("web"))
				}
			},
			[]string{"HostError", "the disk is gone", "cannot allocate memory"},
		},
		"a verdict that was given before counts": {
			map[string]string{"p": "deny No never\non_error = \"last_verdict\"", "q": "hold Later soon\non_error = \"last_verdict\""},
			nil,
			func(t *testing.T, p *Engine, d policytest.Tree) {
				t.Helper()
				ask(t, p, policytest.Question("web"))
				for _, name := range []string{"p", "q"} {
					d.Policy(name, "trap no", "on_error = \"last_verdict\"")
				}
				_, err := p.Reload(t.Context(), "")
				policytest.Must(t, err)
				ask(t, p, policytest.Question("web"))
			},
			[]string{"before that it said deny: No: never", "before that it said hold: Later: soon"},
		},
		"no verdict was given before": {
			map[string]string{"p": "unwell\non_error = \"last_verdict\""},
			func(c *Config) { c.Opinions = nil },
			func(t *testing.T, p *Engine, _ policytest.Tree) {
				t.Helper()
				ask(t, p, policytest.Question("web"))
				ask(t, p, policytest.Question("db"))
				ask(t, p, policytest.Question("db"))
			},
			[]string{"HostError", "it has not judged this version of the pod before"},
		},
		"an exempt pod": {
			map[string]string{"p": "trap no", "q": "unready"},
			func(c *Config) { c.Exempt = []string{"shop/web*"} },
			func(t *testing.T, p *Engine, _ policytest.Tree) {
				t.Helper()
				ask(t, p, policytest.Question("web", func(q *api.Question) { q.Origin.Source = "static" }))
			},
			[]string{"Trap", "NotReady"},
		},
		"a policy that reads the node": {
			map[string]string{"p": "quota 1\ncapabilities = [\"node.read\"]"},
			func(c *Config) {
				c.Facts = &Node{Pods: func() []NodePod { return []NodePod{{policytest.SomePod("other"), "static"}} }, Wanted: func(types.UID, string) bool { return true }}
			},
			func(t *testing.T, p *Engine, _ policytest.Tree) { t.Helper(); ask(t, p, policytest.Question("web")) },
			[]string{"hold"},
		},
		"an exception": {
			map[string]string{"p": "deny No never\n[[exception]]\npods = [\"shop/web\"]\nowner = \"me\"\nexpires = \"2999-01-01\""},
			nil,
			func(t *testing.T, p *Engine, _ policytest.Tree) {
				t.Helper()
				ask(t, p, policytest.Question("web"))
				ask(t, p, policytest.Question("db"))
			},
			[]string{"an exception of me", "never"},
		},
		"conditions": {
			map[string]string{
				"p": "deny No never\n[match]\nconditions = [\"object.metadata.name == 'web'\"]",
				"q": "deny No never\n[match]\nconditions = [\"object.metadata.labels['missing'] == 'x'\"]",
			},
			nil,
			func(t *testing.T, p *Engine, _ policytest.Tree) { t.Helper(); ask(t, p, policytest.Question("web")) },
			[]string{"ConditionFailed", "never"},
		},
		"a denial that is put off": {
			map[string]string{"p": "deny No never (denied in no time)"},
			nil,
			func(t *testing.T, p *Engine, _ policytest.Tree) {
				t.Helper()
				for _, name := range []string{"one", "two"} {
					ask(t, p, ofController(name, "set", func(q *api.Question) { q.Origin.Source = "cluster" }))
				}
			},
			[]string{"(denied in 10s: other pods", "(denied in no time)"},
		},
		"the modes, and what is said where nobody has an opinion": {
			map[string]string{"p": "deny No\nmode = \"warn\"", "q": "deny No\nmode = \"audit\"", "r": "abstain"},
			func(c *Config) { c.DefaultVerdict = api.Deny },
			func(t *testing.T, p *Engine, _ policytest.Tree) { t.Helper(); ask(t, p, policytest.Question("web")) },
			[]string{"DefaultVerdict", "warn", "audit"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, d, s := filepath.Join(t.TempDir(), "state"), policytest.NewTree(t), policytest.NewScripts()
			for policy, text := range test.policies {
				script, more, _ := strings.Cut(text, "\n")
				d.Write(policy+".toml", policytest.DocumentIn(policy, script, more))
				d.Write(policy+".wasm", script)
			}
			log, closeAll := policytest.RecordsIn(t, at)
			c := testConfig(d, s)
			c.Records, c.Sources = log, []string{"cluster", "static"}
			if test.change != nil {
				test.change(&c)
			}
			p := New(c)
			stop := run(t, p)
			test.do(t, p, d)
			stop()
			closeAll()
			records, exhibits := evidenceIn(t, at)
			var all strings.Builder
			for i, r := range records {
				well := policytest.NewScripts()
				well.Faults = 2 // as if the machine had failed already
				again := replay.NewReplayer(scripted{well}, slog.New(slog.DiscardHandler))
				if diff := repeated(t, again, r, exhibits[i]); diff != nil {
					t.Errorf("%s of %s: %v", r.Hook, r.Name, diff)
				}
				again.Close()
				text, err := json.Marshal(r)
				policytest.Must(t, err)
				all.Write(text)
			}
			for _, want := range test.want {
				if !strings.Contains(all.String(), want) {
					t.Errorf("nothing on record has %q:\n%s", want, all.String())
				}
			}
		})
	}
}

func TestWhatNoPolicyJudgedIsNotRepeated(t *testing.T) {
	t.Parallel()
	again := replay.NewReplayer(nil, nil)
	for name, record := range map[string]decisions.Record{
		"an admission without sets": {Decision: api.Decision{Hook: api.HookAdmit, Verdict: notReady("/policies", errors.New("no"), policytest.Instant)}},
		"a contest without sets":    {Decision: api.Decision{Hook: api.HookMerge}},
	} {
		if _, err := again.Replay(context.Background(), &record, nil); !errors.Is(err, replay.ErrNotJudged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheFirstDifferenceIsNamed(t *testing.T) {
	t.Parallel()
	base := api.Verdict{Answer: api.Deny, Message: "no", At: policytest.Instant, Sets: []string{"s"}, Opinions: []api.Opinion{{Policy: "p", Answer: api.Deny, Fuel: 1 << 60, Warnings: []string{"a"}}}}
	for name, test := range map[string]struct {
		change func(v *api.Verdict)
		want   string
	}{
		"another answer":     {func(v *api.Verdict) { v.Answer = api.Allow }, `answer is "deny" on record, made again "allow"`},
		"a large number":     {func(v *api.Verdict) { v.Opinions[0].Fuel++ }, "opinions[0].fuel is 1152921504606846976 on record, made again 1152921504606846977"},
		"one more":           {func(v *api.Verdict) { v.Opinions[0].Warnings = []string{"a", "b"} }, `opinions[0].warnings[1] is nothing on record, made again "b"`},
		"something is gone":  {func(v *api.Verdict) { v.Message = "" }, `message is "no" on record, made again nothing`},
		"none":               {func(*api.Verdict) {}, ""},
		"an opinion is gone": {func(v *api.Verdict) { v.Opinions = nil }, `opinions is [{"answer":"deny","fuel":1152921504606846976,"policy":"p","warnings":["a"]}] on record, made again nothing`},
		"the time":           {func(v *api.Verdict) { v.At = v.At.Add(1) }, `at is "2026-11-03T12:00:00Z" on record, made again "2026-11-03T12:00:00.000000001Z"`},
	} {
		made := base
		made.Opinions = []api.Opinion{base.Opinions[0]}
		test.change(&made)
		d, err := replay.Compare(&decisions.Record{Decision: api.Decision{Verdict: base}}, made)
		policytest.Must(t, err)
		got := ""
		if d != nil {
			got = d.String()
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestADecisionOfMorePoliciesThanStayLoadedIsMadeAgain(t *testing.T) {
	t.Parallel()
	at, d, s := filepath.Join(t.TempDir(), "state"), policytest.NewTree(t), policytest.NewScripts()
	for i := range replay.MaxLoaded + 6 {
		d.Policy(fmt.Sprintf("p%02d", i), "allow")
	}
	log, closeAll := policytest.RecordsIn(t, at)
	c := testConfig(d, s)
	c.Records = log
	p := New(c)
	stop := run(t, p)
	for _, name := range []string{"web", "db"} {
		ask(t, p, policytest.Question(name))
	}
	d.Policy("p00", "deny No")
	_, err := p.Reload(t.Context(), "")
	policytest.Must(t, err)
	ask(t, p, policytest.Question("web"))
	stop()
	closeAll()
	loads := policytest.NewScripts()
	again := replay.NewReplayer(scripted{loads}, slog.New(slog.DiscardHandler))
	defer again.Close()
	records, exhibits := evidenceIn(t, at)
	for i, r := range records {
		if diff := repeated(t, again, r, exhibits[i]); diff != nil {
			t.Errorf("%s: %v", r.Name, diff)
		}
	}
	if len(records) != 3 || loads.Loads != replay.MaxLoaded+7 || len(loads.InUse()) != replay.MaxLoaded+6 {
		t.Errorf("%d records, loaded %d times, %d are loaded", len(records), loads.Loads, len(loads.InUse()))
	}
}
