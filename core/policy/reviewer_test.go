package policy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/state"
)

// running is a node with pods that run.
type running struct {
	mu   sync.Mutex
	pods map[types.UID]RunningPod
	// shown is what is shown with each pod, told what events say, evicted when which
	// pod was.
	shown   map[string]string
	told    []string
	evicted []evicted
	fuel    int64
	// refuses has no pod evicted.
	refuses error
}

type evicted struct {
	name string
	at   time.Time
	by   pod.Verdict
}

func newRunning(pods ...RunningPod) *running {
	n := &running{pods: map[types.UID]RunningPod{}, shown: map[string]string{}}
	for _, p := range pods {
		n.pods[p.Pod.UID] = p
	}
	return n
}

// somePods are so many pods that nobody has judged.
func somePods(n int) (pods []RunningPod) {
	for i := range n {
		pods = append(pods, runs(fmt.Sprintf("p%02d", i)))
	}
	return pods
}

func runs(name string, change ...func(*v1.Pod)) RunningPod {
	return RunningPod{Pod: somePod(name, change...), Origin: pod.Origin{Source: "static", Document: name + ".yaml#0"}}
}

func (n *running) Pods() []RunningPod {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Collect(maps.Values(n.pods))
}

func (n *running) Violates(p *v1.Pod, v Violation) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.shown[p.Name] = v.Message; v.Message == "" {
		delete(n.shown, p.Name)
	}
}

func (n *running) Tell(p *v1.Pod, reason, message string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.told = append(n.told, p.Name+" "+reason+" "+message)
}

func (n *running) Judged(opinions []pod.Opinion) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fuel += fuelOf(opinions)
}

func (n *running) Evict(_ context.Context, p *v1.Pod, v pod.Verdict) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.refuses != nil {
		return n.refuses
	}
	n.evicted = append(n.evicted, evicted{p.Name, time.Now(), v})
	delete(n.pods, p.UID)
	return nil
}

// gone are the names of those that were evicted.
func (n *running) gone() (names []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, e := range n.evicted {
		names = append(names, e.name)
	}
	return names
}

func (n *running) shows(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.shown[name]
}

// counts keeps what was evicted in memory.
type counts struct {
	mu   sync.Mutex
	kept map[string]state.Evictions
	// fails has nothing be stored, unread nothing be loaded.
	fails, unread error
}

func newCounts() *counts { return &counts{kept: map[string]state.Evictions{}} }

func (c *counts) Load(tenant string) (state.Evictions, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.kept[tenant]
	e.Tenant, e.Policies = tenant, slices.Clone(e.Policies)
	return e, c.unread
}

func (c *counts) Store(e *state.Evictions) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fails != nil {
		return c.fails
	}
	c.kept[e.Tenant] = state.Evictions{Tenant: e.Tenant, Policies: slices.Clone(e.Policies)}
	return nil
}

// reviewing is a plane over pods that run.
func reviewing(t *testing.T, d tree, s *scripts, n *running, change ...func(*Config)) *Plane {
	t.Helper()
	p, _ := listed(t, d, s, append([]func(*Config){func(c *Config) { c.Running = n }}, change...)...)
	return p
}

func evictionsIn(c *counts) func(*Config) { return func(cfg *Config) { cfg.Evictions = c } }

func exempting(names ...string) func(*Config) { return func(c *Config) { c.Exempt = names } }

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
			bubble(t, func(d tree, s *scripts) {
				t := d.t
				n := newRunning(runs("web"))
				s.edit = func(_ string, r *wasm.Result) {
					r.Patch = []byte(`[{"op":"add","path":"/metadata/labels/new","value":"x"}]`)
				}
				var change []func(*Config)
				if slices.Contains(tc.keys, "# exempt") {
					change = append(change, exempting("shop/web"))
				}
				d.policy("a", tc.script, tc.keys...)
				p := reviewing(t, d, s, n, change...)
				run(t, p)
				time.Sleep(30 * time.Second)
				synctest.Wait()
				if got := n.shows("web"); got != tc.shown {
					t.Errorf("shown %q, want %q", got, tc.shown)
				}
				if asked := len(s.called()) > 0; asked != tc.asked {
					t.Errorf("asked: %v", s.called())
				}
				if len(n.gone()) > 0 {
					t.Errorf("evicted %v", n.gone())
				}
				for _, x := range p.Decisions() {
					if x.Op != pod.Review || x.Verdict.Mutation != nil || x.Count != 1 {
						t.Errorf("decision %+v", x)
					}
				}
			})
		})
	}
}

func TestAViolationIsShownUntilASetLetsThePodPass(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		n := newRunning(runs("web"), runs("db"))
		d.policy("a", "allow", onChangeReports)
		p := reviewing(t, d, s, n)
		run(t, p)
		time.Sleep(30 * time.Second)
		for _, step := range []struct{ script, shown string }{
			{"deny No nobody", `policy "a": No: nobody`}, {"deny No never", `policy "a": No: never`}, {"allow # again", ""}, {"hold", `policy "a": PolicyHeld`},
		} {
			d.policy("a", step.script, onChangeReports)
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
		d.policy("a", "hold")
		time.Sleep(30 * time.Second)
		if got := n.shows("web"); got != "" || p.Sets()[0].Policies[0].Review != nil {
			t.Errorf("nobody judges it any more, shown %q", got)
		}
	})
}

func TestAPodThatTheSetsInForceHaveAdmittedIsNotJudgedAgain(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		n := newRunning()
		d.policy("a", "allow", onChangeReports)
		p := reviewing(t, d, s, n)
		run(t, p)
		v := ask(t, p, question("web"))
		n.mu.Lock()
		web := runs("web")
		web.Verdict = &v
		n.pods[web.Pod.UID] = web
		n.mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		if calls := s.called(); len(calls) != 1 {
			t.Errorf("calls %v", calls)
		}
		d.policy("b", "allow")
		time.Sleep(time.Minute)
		synctest.Wait()
		if calls := s.called(); len(calls) != 2 {
			t.Errorf("another set is in force, calls %v", calls)
		}
	})
}

// settled waits until nothing more happens within ten minutes.
func settled() {
	time.Sleep(20 * time.Minute)
	synctest.Wait()
}

// expectPace checks that pods went one at a time.
func expectPace(t *testing.T, n *running) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := 1; i < len(n.evicted); i++ {
		if gap := n.evicted[i].at.Sub(n.evicted[i-1].at); gap < evictPeriod {
			t.Errorf("%s went %s after %s", n.evicted[i].name, gap, n.evicted[i-1].name)
		}
	}
}

func TestAPolicyThatDeniesEverythingEvictsATenthUntilItIsConfirmed(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		n, kept := newRunning(somePods(50)...), newCounts()
		d.policy("deny-all", "allow", onChangeEvicts)
		p := reviewing(t, d, s, n, evictionsIn(kept), exempting("shop/p00", "shop/p01"))
		run(t, p)
		time.Sleep(time.Minute)
		d.policy("deny-all", "deny No nobody", onChangeEvicts)
		settled()
		if diff := cmp.Diff([]string{"p02", "p03", "p04", "p05", "p06"}, n.gone()); diff != "" {
			t.Errorf("evicted (-want +got):\n%s", diff)
		}
		expectPace(t, n)
		const waits = `policy "deny-all": No: nobody; 5 of 50 pods were evicted, this one waits for "wardlet policy confirm deny-all"`
		if got := n.shows("p07"); got != waits {
			t.Errorf("shown %q, want %q", got, waits)
		}
		if got := n.shows("p00"); !strings.HasSuffix(got, "the pod is exempt and runs on") {
			t.Errorf("shown %q", got)
		}
		r := p.Sets()[0].Policies[0].Review
		want := &pod.PolicyReview{Judged: 45, Violating: 45, Of: 50, Evicted: 5, Allowed: 5, Waiting: 43, Waits: `for "wardlet policy confirm deny-all"`}
		if diff := cmp.Diff(want, r); diff != "" {
			t.Errorf("review (-want +got):\n%s", diff)
		}
		if !slices.Contains(n.told, `p07 PolicyViolation the pod runs on and would not be admitted now: policy "deny-all": No: nobody; 5 of 50 pods were evicted, this one waits for "wardlet policy confirm deny-all"`) {
			t.Errorf("no event says what is waited for: %q", n.told[len(n.told)-1])
		}
		v := n.evicted[0].by
		if v.Answer != pod.Deny || v.Reason != "PolicyEvicted" || v.Message != `policy "deny-all": No: nobody` || v.Policy != "deny-all" || len(v.Sets) != 1 {
			t.Errorf("evicted by %+v", v)
		}

		for name, of := range map[string][2]string{"another policy": {"", "other"}, "another owner": {"a", "deny-all"}} {
			if _, err := p.Confirm(t.Context(), of[0], of[1]); err == nil {
				t.Errorf("%s is confirmed", name)
			}
		}
		set, err := p.Confirm(t.Context(), "", "deny-all")
		if err != nil || !set.Policies[0].Review.Confirmed {
			t.Errorf("confirmed: %+v, %v", set.Policies[0].Review, err)
		}
		settled()
		if got := len(n.gone()); got != 48 {
			t.Errorf("%d pods evicted, want all but the exempt ones", got)
		}
		expectPace(t, n)
		if left := n.Pods(); len(left) != 2 {
			t.Errorf("left %d", len(left))
		}
	})
}

func TestWhatWasEvictedCountsAfterARestart(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		n, kept := newRunning(somePods(30)...), newCounts()
		d.policy("a", "deny", onChangeEvicts)
		for life := range 6 {
			p := reviewing(t, d, s, n, evictionsIn(kept))
			stop := run(t, p)
			if life == 0 {
				time.Sleep(5 * time.Second) // the first goes
			} else {
				settled()
			}
			stop()
		}
		if got := len(n.gone()); got != 3 {
			t.Errorf("%d of 30 evicted, want 3", got)
		}
		expectPace(t, n)
		if c := kept.kept[""].Policies; len(c) != 1 || c[0].Of != 30 || c[0].Evicted != 3 {
			t.Errorf("kept %+v", c)
		}
		// A confirmation is of one content.
		p := reviewing(t, d, s, n, evictionsIn(kept))
		run(t, p)
		time.Sleep(time.Minute)
		if _, err := p.Confirm(t.Context(), "", "a"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(25 * time.Second)
		d.policy("a", "deny # another", onChangeEvicts)
		settled()
		if got := len(n.gone()); got < 4 || got > 9 {
			t.Errorf("%d evicted", got)
		}
		if !strings.Contains(n.shows("p29"), "policy confirm a") {
			t.Errorf("shown %q", n.shows("p29"))
		}
		expectPace(t, n)
	})
}

func TestOnlyWhatThePluginDeniesIsEvicted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script string
		keys   []string
		want   int
	}{
		"a denial is":                            {"deny", []string{onChangeEvicts}, 2},
		"a hold is not":                          {"hold", []string{onChangeEvicts}, 0},
		"nor is a failure that counts as denial": {"trap x", []string{onChangeEvicts, `on_error = "deny"`}, 0},
		"nor one that holds":                     {"trap x", []string{onChangeEvicts}, 0},
		"nor a denial that is only reported":     {"deny", []string{onChangeReports}, 0},
		"nor one of mode warn":                   {"deny", []string{onChangeEvicts, `mode = "warn"`}, 0},
		"nor what an exception names":            {"deny", []string{onChangeEvicts, "[[exception]]\npods = [\"shop/*\"]\nowner = \"me\"\nexpires = \"2999-01-01\""}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d tree, s *scripts) {
				t := d.t
				n := newRunning(somePods(25)...)
				d.policy("a", tc.script, tc.keys[1:]...)
				run(t, reviewing(t, d, s, n))
				time.Sleep(time.Minute)
				d.policy("a", tc.script, tc.keys...) // which is no reason for a probation
				settled()
				if got := len(n.gone()); got != tc.want {
					t.Errorf("evicted %d, want %d", got, tc.want)
				}
			})
		})
	}
}

func TestNobodyIsEvictedBeforeAllAreJudged(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		n := newRunning(somePods(50)...)
		d.policy("a", "deny", onChangeEvicts)
		calls := 0
		s.edit = func(string, *wasm.Result) {
			if calls++; len(n.gone()) > 0 && calls < 50 {
				t.Errorf("evicted %v after %d calls", n.gone(), calls)
			}
			time.Sleep(time.Second)
		}
		run(t, reviewing(t, d, s, n))
		settled()
		if got := len(n.gone()); got != 5 {
			t.Errorf("%d evicted", got)
		}
	})
}

func TestTheDefaultVerdictEvictsNobody(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		n := newRunning(somePods(25)...)
		d.policy("a", "abstain", onChangeEvicts)
		run(t, reviewing(t, d, s, n, func(c *Config) { c.DefaultVerdict = pod.Deny }))
		settled()
		if len(n.gone()) > 0 || n.shows("p01") != "" {
			t.Errorf("evicted %v, shown %q", n.gone(), n.shows("p01"))
		}
	})
}

func TestASetThatIsTakenBackEvictsNoMore(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(d tree, p *Plane){
		"rolled back": func(d tree, p *Plane) {
			_, err := p.Rollback(d.t.Context(), "")
			must(d.t, err)
		},
		"replaced": func(d tree, _ *Plane) { d.policy("a", "allow # again", onChangeEvicts) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d tree, s *scripts) {
				t := d.t
				n := newRunning(somePods(50)...)
				d.policy("a", "allow", onChangeEvicts)
				keep, _ := keeping(t)
				p := reviewing(t, d, s, n, keep)
				run(t, p)
				time.Sleep(time.Minute)
				d.policy("a", "deny", onChangeEvicts)
				for len(n.gone()) < 2 {
					time.Sleep(time.Second)
				}
				end(d, p)
				time.Sleep(15 * time.Second)
				gone := len(n.gone())
				settled()
				if got := len(n.gone()); got != gone || got > 3 {
					t.Errorf("%d evicted, then %d", gone, got)
				}
				if got := n.shows("p49"); got != "" {
					t.Errorf("shown %q", got)
				}
			})
		})
	}
}

func TestAPodIsJudgedOnceMoreBeforeItIsEvicted(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		n := newRunning(somePods(25)...)
		d.policy("a", "deny", onChangeEvicts)
		calls := 0
		s.edit = func(_ string, r *wasm.Result) {
			if calls++; calls > 25 {
				r.Answer = pod.Allow
			}
		}
		run(t, reviewing(t, d, s, n))
		settled()
		if got := n.gone(); len(got) != 1 { // that had been judged just then
			t.Errorf("evicted %v, which it does not deny any more", got)
		}
		if calls != 25+24 {
			t.Errorf("asked %d times", calls)
		}
	})
}

func TestNobodyIsEvictedWhoCannotBeCounted(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		n, kept := newRunning(somePods(25)...), newCounts()
		kept.unread = errors.New("bad sector")
		d.policy("a", "deny", onChangeEvicts)
		p := reviewing(t, d, s, n, evictionsIn(kept))
		run(t, p)
		settled()
		if r := p.Sets()[0].Policies[0].Review; len(n.gone()) > 0 || !strings.Contains(r.Waits, "bad sector") {
			t.Errorf("what was evicted is not known: evicted %v, %+v", n.gone(), r)
		}
		kept.mu.Lock()
		kept.unread, kept.fails = nil, errors.New("disk full")
		kept.mu.Unlock()
		settled()
		if r := p.Sets()[0].Policies[0].Review; len(n.gone()) > 0 || !strings.Contains(r.Waits, "disk full") {
			t.Errorf("the disk takes nothing: evicted %v, %+v", n.gone(), r)
		}
		kept.mu.Lock()
		kept.fails = nil
		kept.mu.Unlock()
		settled()
		if got := len(n.gone()); got != 2 {
			t.Errorf("%d evicted", got)
		}
	})
}

func TestAPodThatCannotBeEvictedDoesNotCount(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		n, kept := newRunning(somePods(25)...), newCounts()
		n.refuses = errors.New("it has gone")
		d.policy("a", "deny", onChangeEvicts)
		p := reviewing(t, d, s, n, evictionsIn(kept))
		run(t, p)
		settled()
		if r := p.Sets()[0].Policies[0].Review; r.Evicted != 0 {
			t.Errorf("review %+v", r)
		}
		n.mu.Lock()
		n.refuses = nil
		n.mu.Unlock()
		settled()
		if got := len(n.gone()); got != 2 {
			t.Errorf("%d evicted", got)
		}
	})
}

func TestASetEvictsOnProbationOnlyWhereItHasProvedItself(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		n := newRunning(somePods(5)...)
		d.policy("a", "deny", onChangeEvicts)
		p := reviewing(t, d, s, n)
		run(t, p)
		time.Sleep(9 * time.Minute)
		synctest.Wait()
		if r := p.Sets()[0].Policies[0].Review; len(n.gone()) > 0 || !strings.Contains(r.Waits, "probation") {
			t.Errorf("after 9 minutes: evicted %v, %+v", n.gone(), r)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if len(n.gone()) != 1 {
			t.Errorf("after 11 minutes: evicted %v", n.gone())
		}
	})
}

func TestATenantsPolicyEvictsItsOwnPods(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		own := tree{t, newTree(t).dir}
		n := newRunning(somePods(25)...)
		for i := range 30 {
			p := runs(fmt.Sprintf("a%02d", i), func(p *v1.Pod) { p.Namespace = "a" })
			n.pods[p.Pod.UID] = p
		}
		d.policy("operator", "allow", onChangeReports)
		own.policy("mine", "deny", onChangeEvicts)
		p := reviewing(t, d, s, n, func(c *Config) {
			c.Tenants = []Tenant{{Name: "a", Dir: own.dir, Owns: func(namespace string) bool { return namespace == "a" }}}
		})
		run(t, p)
		settled()
		if diff := cmp.Diff([]string{"a00", "a01", "a02"}, n.gone()); diff != "" {
			t.Errorf("evicted (-want +got):\n%s", diff)
		}
		if got := n.shows("a10"); !strings.Contains(got, `"wardlet policy confirm mine --tenant a"`) {
			t.Errorf("shown %q", got)
		}
		if got := n.shows("p10"); got != "" {
			t.Errorf("shown %q with a pod of nobody's", got)
		}
	})
}

func TestTwoPoliciesHaveAPaceOfTheirOwn(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		n := newRunning(somePods(40)...)
		d.policy("a", "deny", onChangeEvicts)
		d.policy("b", "deny", onChangeEvicts)
		run(t, reviewing(t, d, s, n))
		settled()
		by := map[string]int{}
		for _, e := range n.evicted { // the first went before b had its turn
			by[e.by.Policy]++
		}
		if diff := cmp.Diff(map[string]int{"a": 4, "b": 3}, by); diff != "" {
			t.Errorf("evicted (-want +got):\n%s", diff)
		}
	})
}

func TestWhatIsSaidOfAPodThatRunsCanBeMadeAgainFromItsRecord(t *testing.T) {
	t.Parallel()
	d, s := newTree(t), patching(map[string]string{"labels": toLabel("a", "b")})
	d.policy("labels", "allow", labelsPath, onChangeReports)
	d.policy("other", "deny No nobody", onChangeEvicts, "[match]\noperations = [\"ADD\"]\nconditions = [\"!('a' in object.metadata.labels)\"]")
	d.policy("silent", "deny")
	changed := runs("changed")
	changed.Verdict = &pod.Verdict{Answer: pod.Allow, Mutation: &pod.Mutation{Instance: "of the document", FinalHash: "of the pod"}}
	at := filepath.Join(t.TempDir(), "state")
	log, closeAll := recordsIn(t, at)
	c := testConfig(d, s)
	c.Records, c.Running, c.DefaultVerdict = log, newRunning(runs("web"), changed), pod.Hold
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
	again := NewRepeater(testConfig(d, s))
	defer again.Close()
	for i, r := range records {
		said := r.Verdict.Opinions
		if r.Op != pod.Review || len(said) != 2 || said[0].Patch == "" || said[1].Reason != "No" || r.Verdict.Answer != pod.Deny || r.Pod != r.Old {
			t.Errorf("record %+v", r)
		}
		if base := r.Name == "changed"; base != (r.Base == "of the pod") || base != (r.Instance == "of the document") {
			t.Errorf("%s: base %q, instance %q", r.Name, r.Base, r.Instance)
		}
		if d := repeated(t, again, r, exhibits[i]); d != nil {
			t.Error(d)
		}
		other := *r
		other.Op = pod.Add
		if repeated(t, again, &other, exhibits[i]) == nil {
			t.Error("of a new pod they say the same, so this test says nothing")
		}
	}
}
