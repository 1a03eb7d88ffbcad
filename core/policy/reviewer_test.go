package policy

import (
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/replay"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

const (
	onChangeReports = `on_change = "report"`
	onChangeEvicts  = `on_change = "evict"`
)

func TestWhatAPolicySaysOfAPodThatRuns(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script string
		keys   []string
		shown  string
		asked  bool
	}{
		"it is not asked with on_change = ignore":              {script: "deny"},
		"a denial is shown":                                    {"deny No not here", []string{onChangeReports}, `policy "a": No: not here`, true},
		"so is a hold":                                         {"hold Later not now", []string{onChangeReports}, `policy "a": Later: not now`, true},
		"and a failure, with what it counts as":                {"trap boom", []string{onChangeReports, `on_error = "deny"`}, `policy "a": PolicyFailed: the plugin failed with Trap: boom (on_error is deny)`, true},
		"one that it would admit shows nothing":                {"allow", []string{onChangeReports}, "", true},
		"nor does one without an opinion":                      {"abstain", []string{onChangeReports}, "", true},
		"a policy of mode warn is not asked":                   {"deny", []string{onChangeReports, `mode = "warn"`}, "", false},
		"nor is one of mode audit":                             {"deny", []string{onChangeReports, `mode = "audit"`}, "", false},
		"nor about a pod that does not match":                  {"deny", []string{onChangeReports, "[match]\nnamespaces = [\"other\"]"}, "", false},
		"one for new pods is asked":                            {"deny", []string{onChangeReports, "[match]\noperations = [\"ADD\"]"}, `policy "a": PolicyDenied`, true},
		"its conditions see the operation":                     {"deny", []string{onChangeReports, "[match]\nconditions = [\"request.operation == 'REVIEW'\"]"}, `policy "a": PolicyDenied`, true},
		"and the pod as what it was, so that nothing changes":  {"deny", []string{onChangeReports, "[match]\nconditions = [\"object.spec != oldObject.spec\"]"}, "", false},
		"an exception counts":                                  {"deny", []string{onChangeReports, "[[exception]]\npods = [\"shop/*\"]\nowner = \"me\"\nexpires = \"2999-01-01\""}, "", false},
		"an exempt pod passes where the plugin fails":          {"trap boom", []string{onChangeReports, `on_error = "deny"`, "# exempt"}, "", true},
		"what it would change of the pod is no violation":      {"allow", []string{onChangeReports, `mutable_paths = ["/metadata/labels"]`}, "", true},
		"a policy that evicts says what is to come":            {"deny", []string{onChangeEvicts}, `policy "a": PolicyDenied; it is to be evicted`, true},
		"an exempt pod is not to be evicted, and that is said": {"deny", []string{onChangeEvicts, "# exempt"}, `policy "a": PolicyDenied; the pod is exempt and runs on`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				n := newRunning(runs("web"))
				s.Edit = func(_ string, r *wasm.Result) {
					r.Patch = []byte(`[{"op":"add","path":"/metadata/labels/new","value":"x"}]`)
				}
				var change []func(*Config)
				if slices.Contains(tc.keys, "# exempt") {
					change = append(change, exempting("shop/web"))
				}
				d.Policy("a", tc.script, tc.keys...)
				p := reviewing(t, d, s, n, change...)
				run(t, p)
				time.Sleep(9 * time.Second)
				synctest.Wait()
				if got := n.shows("web"); got != tc.shown {
					t.Errorf("shown %q, want %q", got, tc.shown)
				}
				if asked := len(s.Calls()) > 0; asked != tc.asked {
					t.Errorf("asked: %v", s.Calls())
				}
				if len(n.gone()) > 0 {
					t.Errorf("evicted %v", n.gone())
				}
				for _, x := range p.Decisions() {
					if x.Op != api.Review || x.Verdict.Mutation != nil || x.Count != 1 {
						t.Errorf("decision %+v", x)
					}
				}
			})
		})
	}
}

func TestAViolationIsShownUntilASetLetsThePodPass(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		n := newRunning(runs("web"), runs("db"))
		d.Policy("a", "allow", onChangeReports)
		p := reviewing(t, d, s, n)
		run(t, p)
		time.Sleep(30 * time.Second)
		for _, step := range []struct{ script, shown string }{
			{"deny No nobody", `policy "a": No: nobody`}, {"deny No never", `policy "a": No: never`}, {"allow # again", ""}, {"hold", `policy "a": PolicyHeld`},
		} {
			d.Policy("a", step.script, onChangeReports)
			time.Sleep(30 * time.Second)
			synctest.Wait()
			if web, db := n.shows("web"), n.shows("db"); web != step.shown || db != step.shown {
				t.Errorf("%s: shown %q and %q, want %q", step.script, web, db, step.shown)
			}
		}
		const of = "web PolicyViolation the pod runs on and would not be admitted now: policy \"a\": "
		want := []string{of + "No: nobody", of + "No: never", of + "PolicyHeld"}
		told := slices.DeleteFunc(n.told, func(text string) bool { return !strings.HasPrefix(text, "web") })
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if r := p.Sets()[0].Policies[0].Review; r == nil || r.Judged != 2 || r.Violating != 2 || r.Unjudged != 0 {
			t.Errorf("review %+v", r)
		}
		d.Policy("a", "hold")
		time.Sleep(30 * time.Second)
		if got := n.shows("web"); got != "" || p.Sets()[0].Policies[0].Review != nil {
			t.Errorf("nobody judges it any more, shown %q", got)
		}
	})
}

func TestAPodThatTheSetsInForceHaveAdmittedIsNotJudgedAgain(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		n := newRunning()
		d.Policy("a", "allow", onChangeReports)
		p := reviewing(t, d, s, n)
		run(t, p)
		v := ask(t, p, policytest.Question("web"))
		n.mu.Lock()
		web := runs("web")
		web.Verdict = &v
		n.pods[web.Pod.UID] = web
		n.mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		if calls := s.Calls(); len(calls) != 1 {
			t.Errorf("calls %v", calls)
		}
		d.Policy("b", "allow")
		time.Sleep(time.Minute)
		synctest.Wait()
		if calls := s.Calls(); len(calls) != 2 {
			t.Errorf("another set is in force, calls %v", calls)
		}
	})
}

func TestWhatIsSaidOfAPodThatRunsCanBeMadeAgainFromItsRecord(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.Patching(map[string]string{"labels": policytest.ToLabel("a", "b")})
	d.Policy("labels", "allow", policytest.LabelsPath, onChangeReports)
	d.Policy("other", "deny No nobody", onChangeEvicts, "[match]\noperations = [\"ADD\"]\nconditions = [\"!('a' in object.metadata.labels)\"]")
	d.Policy("silent", "deny")
	changed := runs("changed")
	changed.Verdict = &api.Verdict{Answer: api.Allow, Mutation: &pod.Mutation{Instance: "of the document", FinalHash: "of the pod"}}
	at := filepath.Join(t.TempDir(), "state")
	log, closeAll := policytest.RecordsIn(t, at)
	c := testConfig(d, s)
	c.Records, c.Running, c.DefaultVerdict = log, newRunning(runs("web"), changed), api.Hold
	p := New(c)
	stop := run(t, p)
	for len(p.Decisions()) < 2 {
		time.Sleep(time.Millisecond)
	}
	stop()
	closeAll()
	records, exhibits := evidenceIn(t, at)
	if len(records) != 2 {
		t.Fatalf("%d records", len(records))
	}
	again := replay.NewReplayer(scripted{s}, slog.New(slog.DiscardHandler))
	defer again.Close()
	for i, r := range records {
		said := r.Verdict.Opinions
		if r.Op != api.Review || len(said) != 2 || said[0].Patch == "" || said[1].Reason != "No" || r.Verdict.Answer != api.Deny || r.Pod != r.Old {
			t.Errorf("record %+v", r)
		}
		if base := r.Name == "changed"; base != (r.Base == "of the pod") || base != (r.Instance == "of the document") {
			t.Errorf("%s: base %q, instance %q", r.Name, r.Base, r.Instance)
		}
		if d := repeated(t, again, r, exhibits[i]); d != nil {
			t.Error(d)
		}
		other := *r
		other.Op = api.Add
		if repeated(t, again, &other, exhibits[i]) == nil {
			t.Error("of a new pod they say the same, so this test says nothing")
		}
	}
}
