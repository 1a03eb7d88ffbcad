package mux

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux/hold"
	"github.com/wardlet/wardlet/core/pod"
)

// patience is how long the filter of the tests below may hold back a version.
const patience = 10 * time.Minute

// runner is a sync loop that checks one rule: only one of the pods that claim an identity runs.
type runner struct {
	t *testing.T
	// pods are the running pods, by UID.
	pods map[types.UID]*v1.Pod
}

func (r *runner) of(id types.NamespacedName) (found []*v1.Pod) {
	for _, p := range r.pods {
		if pod.Identity(p) == id {
			found = append(found, p)
		}
	}
	return found
}

func (r *runner) take(g *gated) {
	r.t.Helper()
	synctest.Wait()
	for len(g.mux.Updates()) > 0 {
		u := <-g.mux.Updates()
		for _, c := range u.Changes {
			r.t.Logf("  %s %s", c.Op, c.Pod().UID)
			r.change(&c)
		}
	}
}

func (r *runner) change(c *api.Change) {
	r.t.Helper()
	uid := c.Pod().UID
	_, runs := r.pods[uid]
	switch c.Op {
	case api.Add, api.Restore:
		if runs {
			r.t.Errorf("%s of %s, which runs", c.Op, uid)
		}
		if others := r.of(pod.Identity(c.New)); len(others) > 0 {
			r.t.Errorf("%s of %s beside %s", c.Op, uid, others[0].UID)
		}
		r.pods[uid] = c.New
	case api.Remove:
		if !runs {
			r.t.Errorf("REMOVE of %s, which does not run", uid)
		}
		delete(r.pods, uid)
	default:
		if !runs {
			r.t.Errorf("%s of %s, which does not run", c.Op, uid)
		}
		r.pods[uid] = c.New
	}
}

// fickle answers at random, even if it is asked the same question again.
type fickle struct{ random *rand.Rand }

// resolve chooses a candidate, the running pod or none, leaves the choice to the rule of the
// node, or does not answer.
func (f *fickle) resolve(c api.Contest) *api.Resolution {
	choices := []api.Choice{api.ChooseWinner, api.ChooseWinner, api.ChooseWinner, api.ChooseCurrent, api.ChooseNone, api.NoChoice}
	if f.random.IntN(8) == 0 {
		return nil
	}
	return &api.Resolution{Choice: choices[f.random.IntN(len(choices))], Winner: f.random.IntN(len(c.Candidates) + 1)}
}

// postpone always defers.
func (f *fickle) postpone(api.FilterQuestion) *api.FilterVerdict {
	after := time.Duration(f.random.IntN(900)) * time.Second
	return &api.FilterVerdict{Answer: api.Defer, After: after, Limit: patience, Policy: "p", Reason: "Never"}
}

// race is a mux with a filter that always defers, a resolver that answers at random, and the
// documents of the sources.
type race struct {
	t      *testing.T
	random *rand.Rand
	fickle *fickle
	umpire *umpire
	config Config
	muxed  *gated
	runs   *runner
	// said are the documents that each source delivered last, by pod name.
	said map[string]map[string]api.Document
}

func newRace(t *testing.T, seed uint64) *race {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 2))
	r := &race{t: t, random: random, fickle: &fickle{rand.New(rand.NewPCG(seed, 3))}, runs: &runner{t, map[types.UID]*v1.Pod{}}, said: map[string]map[string]api.Document{}}
	r.config = Config{Documents: newDisk(), Resolutions: &ledger{}, Precedence: []string{"one", "api", "two"}}
	if random.IntN(2) == 0 {
		r.config.Gate = newJudge()
	}
	r.enter()
	return r
}

// enter starts a mux on the documents of the disk.
func (r *race) enter() {
	r.t.Helper()
	if r.config.Gate != nil {
		r.config.Gate = newJudge()
	}
	r.umpire = newUmpire()
	r.umpire.answer = r.fickle.resolve
	r.config.Resolver, r.config.Filter = r.umpire, newSieve(r.fickle.postpone)
	r.muxed = enter(r.t, r.config).gated
}

// restart stops the mux and starts it again. Each identity that had a running pod must have one
// again before a source delivers.
func (r *race) restart(step int) {
	r.t.Helper()
	r.muxed.stop()
	before := r.runs.pods
	r.runs.pods = map[types.UID]*v1.Pod{}
	r.enter()
	r.runs.take(r.muxed)
	for uid, p := range before {
		if len(r.runs.of(pod.Identity(p))) == 0 {
			r.t.Errorf("step %d: %s ran before the restart, and nothing does in its place", step, uid)
		}
	}
	for source := range r.said {
		r.say(source)
	}
}

// say delivers all documents of a source.
func (r *race) say(source string) {
	var all []api.Document
	for _, name := range []string{"n0", "n1", "n2"} {
		if d, ok := r.said[source][name]; ok {
			all = append(all, d)
		}
	}
	r.muxed.deliver(source, all...)
}

// edit adds, changes or removes one document of a source.
func (r *race) edit(source string) {
	if r.said[source] == nil {
		r.said[source] = map[string]api.Document{}
	}
	name := fmt.Sprint("n", r.random.IntN(3))
	if delete(r.said[source], name); r.random.IntN(4) == 0 {
		return
	}
	img := fmt.Sprint("i", r.random.IntN(3))
	uid := name + "-" + source
	if source != "api" {
		uid += "-" + img
	}
	r.said[source][name] = from(source, name, types.UID(uid), img)
}

// claims returns the newest versions of the pods that claim an identity.
func (r *race) claims(id types.NamespacedName) (all []*v1.Pod) {
	for _, documents := range r.said {
		if d, ok := documents[id.Name]; ok {
			all = append(all, d.Pod)
		}
	}
	return all
}

// check fails the test unless each claimed identity runs in its newest version or is shown as
// waiting. An identity without a claim must not run.
func (r *race) check(step int) {
	r.t.Helper()
	waits := map[string]bool{}
	for _, u := range r.muxed.mux.Suppressed() {
		waits[u.Name] = true
		if held := time.Since(u.Since); held > patience || u.Until.After(time.Now().Add(patience)) {
			r.t.Errorf("step %d: %s is held back for %s, until %s", step, u.UID, held, u.Until)
		}
	}
	for _, c := range r.muxed.mux.Conflicts() {
		for _, claim := range c.Claims {
			waits[c.Name] = waits[c.Name] || claim.State == api.ClaimWaits
		}
	}
	for i := range 3 {
		id := types.NamespacedName{Namespace: "default", Name: fmt.Sprint("n", i)}
		claims, running := r.claims(id), r.runs.of(id)
		newest := slices.ContainsFunc(claims, func(p *v1.Pod) bool { return len(running) > 0 && hold.SameContent(p, running[0]) })
		switch {
		case len(claims) == 0 && len(running) > 0:
			r.t.Errorf("step %d: %s runs, which nobody claims", step, running[0].UID)
		case len(claims) > 0 && !newest && !waits[id.Name]:
			r.t.Errorf("step %d: %s is lost: of %d claims none runs in its newest version, and none waits", step, id, len(claims))
		}
	}
}

// end makes the resolver choose the least UID and waits for as long as the filter may hold back
// a version. Then exactly the chosen pods must run.
func (r *race) end() {
	r.t.Helper()
	r.umpire.become(func(c api.Contest) *api.Resolution {
		least := 0
		for i := range c.Candidates {
			if c.Candidates[i].Pod.UID < c.Candidates[least].Pod.UID {
				least = i
			}
		}
		return &api.Resolution{Choice: api.ChooseWinner, Winner: least}
	})
	r.runs.take(r.muxed)
	time.Sleep(patience)
	r.runs.take(r.muxed)
	want, got := map[types.UID]string{}, map[types.UID]string{}
	for i := range 3 {
		claims := r.claims(types.NamespacedName{Namespace: "default", Name: fmt.Sprint("n", i)})
		if len(claims) > 0 {
			least := slices.MinFunc(claims, func(a, b *v1.Pod) int { return cmp.Compare(a.UID, b.UID) })
			want[least.UID] = least.Spec.Containers[0].Image
		}
	}
	for uid, p := range r.runs.pods {
		got[uid] = p.Spec.Containers[0].Image
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		r.t.Errorf("at the end there run (-want +got):\n%s", diff)
	}
	if waiting := r.muxed.suppressed(); waiting != nil {
		r.t.Errorf("at the end %q waits", waiting)
	}
}

// TestNothingIsLostAndNothingRunsTwice plays random histories of three sources
// that claim the same pods, under a filter that always defers and a resolver
// that answers at random.
func TestNothingIsLostAndNothingRunsTwice(t *testing.T) {
	t.Parallel()
	for seed := range *seeds {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRace(t, seed)
				for step := range 40 {
					r.step(step)
					r.runs.take(r.muxed)
					r.check(step)
				}
				r.end()
				r.muxed.stop()
			})
		})
	}
}

func (r *race) step(step int) {
	r.t.Helper()
	switch n := r.random.IntN(10); n {
	case 0:
		r.t.Logf("step %d: restart", step)
		r.runs.take(r.muxed)
		r.restart(step)
	case 1, 2:
		r.t.Logf("step %d: time passes", step)
		time.Sleep(time.Duration(r.random.IntN(400)) * time.Second)
	case 3:
		r.t.Logf("step %d: other rules", step)
		r.umpire.become(r.fickle.resolve)
	default:
		source := []string{"one", "two", "api"}[n%3]
		r.edit(source)
		r.t.Logf("step %d: %s says %v", step, source, slices.Sorted(maps.Keys(r.said[source])))
		r.say(source)
	}
}
