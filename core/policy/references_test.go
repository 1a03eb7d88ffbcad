package policy

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/replay"
	"github.com/wardlet/wardlet/core/policy/review"
)

// someReferences are References whose digests and errors the test sets.
type someReferences struct {
	mu sync.Mutex
	// digests has the digest of each object by name; keys are the keys of every object.
	// unknown has the errors of objects that are not known yet. The first soon lookups that
	// fail ask for another try within milliseconds.
	digests map[string]string
	keys    []string
	unknown map[string]error
	soon    int
	refused []RefusedPod
	// again are the pods to judge again. used are the pods whose references are watched.
	again []types.UID
	used  map[types.UID]bool
}

func (s *someReferences) Reference(by *v1.Pod, r pod.Reference) (api.Reference, time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used[by.UID] = true
	known := api.Reference{Kind: api.ConfigMapKind, Name: r.Name, Optional: r.Optional}
	if err := s.unknown[r.Name]; err != nil {
		if s.soon--; s.soon >= 0 {
			return known, 50 * time.Millisecond, err
		}
		return known, 0, err
	}
	known.Digest, known.Keys = s.digests[r.Name], s.keys
	return known, 0, nil
}

func (s *someReferences) Unreferenced(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.used, uid)
}

func (s *someReferences) Refused() []RefusedPod {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refused)
}

// refuse sets the refused pods.
func (s *someReferences) refuse(pods ...RefusedPod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = pods
}

func (s *someReferences) JudgeAgain(uids []types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.again = append(s.again, uids...)
}

// set changes one digest; it is empty if the object does not exist.
func (s *someReferences) set(name, digest string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.digests[name] = digest
	delete(s.unknown, name)
}

// after sleeps for d, and returns the pods that were to be judged again since the last call,
// and the pods whose references are watched.
func (s *someReferences) after(d time.Duration) (again, used []types.UID) {
	time.Sleep(d)
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	again, s.again = s.again, nil
	return again, slices.Sorted(maps.Keys(s.used))
}

// naming returns a change that makes a pod name ConfigMaps.
func naming(names ...string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		for _, name := range names {
			p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: name, VolumeSource: v1.VolumeSource{
				ConfigMap: &v1.ConfigMapVolumeSource{LocalObjectReference: v1.LocalObjectReference{Name: name}},
			}})
		}
	}
}

func namingIn(names ...string) func(*api.Question) {
	return func(q *api.Question) { naming(names...)(q.Pod) }
}

const readsThem = `capabilities = ["references.read"]`

func newReferences(digests map[string]string) *someReferences {
	return &someReferences{digests: digests, unknown: map[string]error{}, used: map[types.UID]bool{}}
}

// seeing runs an engine whose policies may see references.
func seeing(t *testing.T, d policytest.Tree, s *policytest.Scripts, refs *someReferences) *Engine {
	t.Helper()
	p, _ := listed(t, d, s, func(c *Config) { c.References, c.Facts = refs, (&aNode{}).node() })
	run(t, p)
	return p
}

func TestReferences_aPolicySeesThoseOfThePod(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		refs := newReferences(map[string]string{"app": "one"})
		d.Policy("pin", "pinned one", readsThem)
		d.Policy("blind", "pinned one")
		p := seeing(t, d, s, refs)
		ask(t, p, policytest.Question("web", namingIn("app", "other")))
		if got := s.Requests["pin"].References; len(got) != 2 || got[0].Digest != "one" || got[1].Name != "other" || got[1].Digest != "" {
			t.Errorf("it sees %+v", got)
		}
		if got := s.Requests["blind"].References; got != nil {
			t.Errorf("without the capability it sees %+v", got)
		}
	})
}

func TestReferences_thatAreNotKnownYet(t *testing.T) {
	t.Parallel()
	away := errors.New("ConfigMap shop/app is not known yet: the API server has not answered")
	for name, tt := range map[string]struct {
		soon   int
		exempt bool
		want   api.Verdict
	}{
		"they are known after a while": {soon: 3, want: api.Verdict{Answer: api.Allow}},
		"they stay unknown": {want: api.Verdict{
			Answer: api.Hold, Reason: api.ReasonReferencesUnknown, Policy: "pin", Message: `policy "pin": ` + away.Error(),
			References: []api.SeenReference{{Kind: api.ConfigMapKind, Name: "app", Unknown: true}},
		}},
		"an exempt pod waits for what is known soon": {exempt: true, soon: 3, want: api.Verdict{Answer: api.Allow}},
		"and for nothing else": {exempt: true, want: api.Verdict{
			Answer: api.Allow, Policy: "pin", Reason: api.ReasonReferencesUnknown, Message: `policy "pin": ` + away.Error(),
			References: []api.SeenReference{{Kind: api.ConfigMapKind, Name: "app", Unknown: true}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				refs := newReferences(map[string]string{"app": "one"})
				refs.unknown["app"], refs.soon = away, tt.soon
				d.Policy("pin", "pinned one", readsThem, `on_error = "deny"`)
				p, _ := listed(t, d, s, func(c *Config) {
					c.References, c.Facts = refs, (&aNode{}).node()
					if tt.exempt {
						c.Exempt = []string{"shop/web"}
					}
				})
				run(t, p)
				if tt.soon > 0 {
					go func() {
						time.Sleep(100 * time.Millisecond)
						refs.set("app", "one")
					}()
				}
				got := ask(t, p, policytest.Question("web", namingIn("app")))
				if got.Answer != tt.want.Answer || got.Reason != tt.want.Reason || got.Policy != "pin" || got.Message != tt.want.Message ||
					tt.want.References != nil && !slices.Equal(got.References, tt.want.References) {
					t.Errorf("got %+v\nwant %+v", got, tt.want)
				}
				if state := p.Sets()[0].Policies[0]; state.LastFailure != "" || state.Failed > 0 {
					t.Errorf("the policy counts a failure: %+v", state)
				}
			})
		})
	}
}

func TestReferences_thatAreTooMuch(t *testing.T) {
	t.Parallel()
	names := func(n int) (names []string) {
		for i := range n {
			names = append(names, fmt.Sprint("app", i))
		}
		return names
	}
	for name, tt := range map[string]struct {
		names, keys []string
		want        string
	}{
		"as many as there may be":       {names(eval.MaxReferences), nil, `policy "pin": it is `},
		"too many":                      {names(eval.MaxReferences + 1), nil, `policy "pin": the pod names 257 ConfigMaps and Secrets, more than the 256 that a policy is shown`},
		"as large keys as there may be": {names(2), []string{strings.Repeat("k", eval.MaxKeyBytes/2)}, `policy "pin": it is `},
		"too large keys": {
			names(2),
			[]string{strings.Repeat("k", eval.MaxKeyBytes/2), "k"},
			`policy "pin": the keys of the ConfigMaps and Secrets that the pod names have 65538 bytes, more than the 65536 that a policy is shown`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				refs := newReferences(map[string]string{})
				refs.keys = tt.keys
				d.Policy("pin", "pinned one", readsThem)
				p := seeing(t, d, s, refs)
				q := policytest.Question("web", namingIn(tt.names...))
				v := ask(t, p, q)
				if v.Message != tt.want {
					t.Errorf("got %q, want %q", v.Message, tt.want)
				}
				refs.refuse(RefusedPod{q.Pod, &v})
				again, used := refs.after(time.Minute)
				if again != nil || len(tt.names) > eval.MaxReferences && used != nil {
					t.Errorf("again %q, used %q", again, used)
				}
				if len(tt.keys) < 2 {
					return
				}
				refs.set("app0", "other")
				if again, _ := refs.after(referencesPeriod); again == nil {
					t.Error("it changes, and nothing is asked again")
				}
			})
		})
	}
}

// TestReferences_areWaitedForTogether checks that all objects of a pod are looked up
// together, and that earlier policies are asked only once.
func TestReferences_areWaitedForTogether(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		refs := newReferences(map[string]string{})
		var names []string
		for i := range 50 {
			names = append(names, fmt.Sprint("app", i))
			refs.unknown[names[i]] = errors.New("away")
		}
		refs.soon = 50
		d.Policy("first", "allow", "priority = 1")
		d.Policy("pin", "pinned one", readsThem, "priority = 2")
		p := seeing(t, d, s, refs)
		go func() {
			for len(s.Calls()) == 0 {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(10 * time.Millisecond)
			for _, name := range names {
				refs.set(name, "one")
			}
		}()
		ask(t, p, policytest.Question("web", namingIn(names...)))
		if got := s.Calls(); len(got) != 3 {
			t.Errorf("asked %q", got)
		}
	})
}

// TestReferences_ofPoliciesThatDoNotCount checks that policies in the modes warn and audit,
// and candidates, see references as other policies do.
func TestReferences_ofPoliciesThatDoNotCount(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{"warn": {`mode = "warn"`}, "audit": {`mode = "audit"`}, "shadow": {`mode = "shadow"`}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				refs := newReferences(map[string]string{})
				refs.unknown["app"], refs.soon = errors.New("away"), 1000
				if d.Policy("pin", "allow"); name == "shadow" {
					d.Write("pin-2.wasm", "pinned one")
					d.Write("pin-2.toml", strings.Replace(policytest.DocumentOf("pin-2", "pinned one", readsThem, keys[0], "[shadow]\nmin_decisions = 1"), `name = "pin-2"`, `name = "pin"`, 1))
				} else {
					d.Policy("pin", "pinned one", append(keys, readsThem)...)
				}
				p := seeing(t, d, s, refs)
				go func() {
					time.Sleep(100 * time.Millisecond)
					refs.set("app", "one")
				}()
				if v := ask(t, p, policytest.Question("web", namingIn("app"))); v.Answer != api.Allow {
					t.Errorf("verdict %+v", v)
				}
				synctest.Wait()
				s.Mu.Lock()
				defer s.Mu.Unlock()
				if seen := s.Requests["pin"].References; len(seen) != 1 || seen[0].Digest != "one" {
					t.Errorf("it has seen %+v", seen)
				}
			})
		})
	}
}

func TestReferences_whatIsRefusedIsJudgedAgainWhenOneChanges(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		refs, n := newReferences(map[string]string{"app": "one"}), &aNode{unwanted: map[types.UID]bool{}}
		d.Policy("pin", "pinned two", readsThem)
		p, _ := listed(t, d, s, func(c *Config) { c.References, c.Facts = refs, n.node() })
		run(t, p)
		q := policytest.Question("web", namingIn("app"))
		v := ask(t, p, q)
		if want := []api.SeenReference{{Kind: api.ConfigMapKind, Name: "app", Digest: "one"}}; v.Answer != api.Deny || !slices.Equal(v.References, want) {
			t.Fatalf("verdict %+v", v)
		}
		refs.refuse(RefusedPod{q.Pod, &v})
		if again, used := refs.after(time.Minute); again != nil || !slices.Equal(used, []types.UID{"uid-web"}) {
			t.Errorf("nothing changes: again %q, used %q", again, used)
		}
		refs.set("app", "two")
		if again, _ := refs.after(referencesPeriod); !slices.Equal(again, []types.UID{"uid-web"}) {
			t.Errorf("it changes: again %q", again)
		}
		refs.refuse()
		if v := ask(t, p, q); v.Answer != api.Allow || v.References[0].Digest != "two" {
			t.Errorf("judged again: %+v", v)
		}
		refs.set("app", "three")
		if again, used := refs.after(time.Minute); again != nil || used == nil {
			t.Errorf("it is admitted: again %q, used %q", again, used)
		}
		n.end(q.Pod)
		if _, used := refs.after(time.Minute); used != nil {
			t.Errorf("it has ended, and %q are used", used)
		}
		n.end()
		ask(t, p, q)
		n.mu.Lock()
		n.unwanted["uid-web"] = true
		n.mu.Unlock()
		if _, used := refs.after(time.Minute); used != nil {
			t.Errorf("it is gone, and %q are used", used)
		}
	})
}

func TestReferences_areReleasedWithTheLastPolicyThatSeesThem(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		refs := newReferences(map[string]string{"app": "one"})
		d.Policy("pin", "pinned one", readsThem)
		p := seeing(t, d, s, refs)
		ask(t, p, policytest.Question("web", namingIn("app")))
		d.Policy("pin", "allow")
		if _, used := refs.after(time.Hour); used != nil {
			t.Errorf("no policy sees them, and %q are used", used)
		}
	})
}

func TestReferences_aFilterLetsPassWhatItIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		refs := newReferences(map[string]string{})
		refs.unknown["app"] = errors.New("away")
		d.Write("pin.wasm", "drop")
		d.Write("pin.toml", policytest.DocumentIn("pin", "drop", readsThem+"\nhooks = [\"filter\"]"))
		p := seeing(t, d, s, refs)
		q := policytest.Question("web", namingIn("app"))
		passed := make(chan api.FilterVerdict, 1)
		p.Filter(api.FilterQuestion{Op: api.UpdateOp, Pod: q.Pod, Old: q.Pod, Origin: q.Origin}, func(v api.FilterVerdict) { passed <- v })
		v := <-passed
		if len(v.Opinions) != 1 || v.Answer != api.Pass || v.Opinions[0].Reason != api.ReasonReferencesUnknown {
			t.Errorf("verdict %+v", v)
		}
		if state := p.Sets()[0].Policies[0]; state.LastFailure != "" || state.Failed > 0 {
			t.Errorf("the policy counts a failure: %+v", state)
		}
	})
}

func TestReferences_aHeldPodIsLookedAtAfterARestart(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		refs := newReferences(map[string]string{"app": "two"})
		d.Policy("pin", "pinned two", readsThem)
		p := seeing(t, d, s, refs)
		q := policytest.Question("web", namingIn("app"))
		v := api.Verdict{Answer: api.Hold, References: []api.SeenReference{{Kind: api.ConfigMapKind, Name: "app", Digest: "one"}}}
		p.Admitted(q, v)
		refs.refuse(RefusedPod{q.Pod, &v})
		if again, _ := refs.after(referencesPeriod); !slices.Equal(again, []types.UID{"uid-web"}) {
			t.Errorf("again %q", again)
		}
	})
}

func TestReferences_aPodThatRunsIsJudgedAgainWhenOneChanges(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		refs := newReferences(map[string]string{"app": "one"})
		n := newRunning(runs("web", naming("app")), runs("other"))
		d.Policy("pin", "pinned one", readsThem, onChangeReports, "[match]\nconditions = [\"has(object.spec.volumes)\"]")
		run(t, reviewing(t, d, s, n, func(c *Config) { c.References, c.Facts = refs, (&aNode{}).node() }))
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := len(s.Calls()); got != 1 || n.shows("web") != "" {
			t.Errorf("nothing changes: asked %d times, shown %q", got, n.shows("web"))
		}
		refs.set("app", "two")
		time.Sleep(2 * review.Period)
		synctest.Wait()
		if got := n.shows("web"); got != `policy "pin": Pin: it is two` {
			t.Errorf("shown %q", got)
		}
		refs.mu.Lock()
		refs.unknown["app"] = errors.New("away")
		refs.mu.Unlock()
		time.Sleep(time.Hour)
		synctest.Wait()
		calls := len(s.Calls())
		refs.set("app", "one")
		time.Sleep(2 * review.Period)
		synctest.Wait()
		if got := n.shows("web"); got != "" || calls != 2 {
			t.Errorf("it is what it was: shown %q, asked %d times before", got, calls)
		}
	})
}

func TestReferences_aDecisionCanBeMadeAgain(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("a", "pinned one", readsThem)
	d.Policy("b", "pinned two", readsThem)
	at := filepath.Join(t.TempDir(), "state")
	log, closeAll := policytest.RecordsIn(t, at)
	refs := newReferences(map[string]string{"app": "one", "other": "two"})
	refs.unknown["away"] = errors.New("away")
	c := testConfig(d, s)
	c.Records, c.References, c.Facts = log, refs, (&aNode{}).node()
	p := New(c)
	stop := run(t, p)
	for _, names := range [][]string{{"app"}, {"none", "other"}, {"app", "away"}} {
		ask(t, p, policytest.Question(names[0], namingIn(names...)))
	}
	// These keys are more than a record has room for.
	refs.mu.Lock()
	refs.keys = []string{strings.Repeat("k", 8<<20)}
	refs.mu.Unlock()
	ask(t, p, policytest.Question("large", namingIn("app", "away")))
	ask(t, p, policytest.Question("larger", namingIn("app", "other")))
	stop()
	closeAll()
	records, exhibits := evidenceIn(t, at)
	if len(records) != 5 {
		t.Fatalf("%d records", len(records))
	}
	again := replay.NewReplayer(scripted{s}, slog.New(slog.DiscardHandler))
	defer again.Close()
	for i, r := range records {
		if len(r.Verdict.References) == 0 {
			t.Errorf("the verdict on %s depends on nothing", r.Name)
		}
		if d := repeated(t, again, r, exhibits[i]); d != nil {
			t.Errorf("%s: %v", r.Name, d)
		}
	}
}
