package mux

import (
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux/hold"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// strainer answers at random: it passes, defers, drops, or never answers. Equal questions get
// equal answers. It records its answers, also while the mux restarts.
type strainer struct {
	mu   sync.Mutex
	salt uint64
	// passed are the versions that the strainer let pass. first is when the strainer first held
	// back a version of a claimant since the last change of this claimant was handed on.
	passed   []*v1.Pod
	first    map[claimant]time.Time
	released map[types.UID]int
}

// claimant is an identity in one source.
type claimant struct {
	source   string
	identity types.NamespacedName
}

func newStrainer(salt uint64) *strainer {
	return &strainer{salt: salt, first: map[claimant]time.Time{}, released: map[types.UID]int{}}
}

// change makes the strainer answer differently.
func (s *strainer) change(salt uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.salt = salt
}

// letPass records that a version may pass.
func (s *strainer) letPass(p *v1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passed = append(s.passed, p)
}

// release records that a pod's update may pass once.
func (s *strainer) release(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released[uid]++
}

func (s *strainer) answer(q api.FilterQuestion) *api.FilterVerdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := fnv.New64a()
	fmt.Fprint(h, s.salt, q.Op, q.Pod.UID, q.Pod.Spec.Containers[0].Image, q.Pod.Status.Phase)
	var v *api.FilterVerdict
	switch n := h.Sum64(); n % 6 {
	case 0, 1:
		s.passed = append(s.passed, q.Pod)
		return passes(q)
	case 2, 3:
		v = defers(time.Duration((n>>8)%300) * time.Second)(q)
	case 4:
		v = drops(q)
	default:
		return nil
	}
	if id := (claimant{q.Origin.Source, pod.Identity(q.Pod)}); s.first[id].IsZero() {
		s.first[id] = time.Now()
	}
	return v
}

// check reports an error unless the new version was passed as it is, was released, or was held
// back for at least the limit.
func (s *strainer) check(t *testing.T, c *api.Change) {
	t.Helper()
	if s == nil || c.New == nil || c.Op == api.Restore || pod.IsMirror(c.New) || c.New.DeletionTimestamp != nil ||
		c.Verdict != nil && c.Verdict.Answer == api.Deny {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := claimant{c.Source, pod.Identity(c.New)}
	first := s.first[id]
	delete(s.first, id)
	switch {
	case slices.ContainsFunc(s.passed, func(p *v1.Pod) bool { return hold.SameContent(p, c.New) }):
	case s.released[c.New.UID] > 0:
		s.released[c.New.UID]--
	case first.IsZero() || time.Since(first) < limit:
		t.Errorf("%s of %s, which no filter let pass", c.Op, c.New.UID)
	}
}

// checkSuppression reports an error if nothing will end the hold of a version that a filter
// holds back.
func checkSuppression(t *testing.T, step int, g *gated, w *pendingVersion) {
	t.Helper()
	h, now := w.hold(), time.Now()
	ticket, _ := h.Question()
	switch {
	case h.IsPassing():
		t.Errorf("step %d: %s may go on and has not", step, w.pod.UID)
	case ticket != 0 && g.mux.store.filterAsked[ticket] != w.slot:
		t.Errorf("step %d: the answer for %s would be lost", step, w.pod.UID)
	case ticket == 0 && w.item.DueAt().IsZero():
		t.Errorf("step %d: %s is held back for ever", step, w.pod.UID)
	case !h.Until().IsZero() && now.After(h.Until()):
		t.Errorf("step %d: %s is held back until %s, which is too long", step, w.pod.UID, h.Until())
	case ticket == 0 && !h.HoldsBack():
		t.Errorf("step %d: %s is held back by %+v", step, w.pod.UID, h.Verdict())
	}
}

// checkEnd checks that nothing is held back any more and that the loop has exactly the desired
// pods.
func checkEnd(t *testing.T, g *gated, l *loop) {
	t.Helper()
	if waiting := g.suppressed(); waiting != nil {
		t.Errorf("at the end %q waits although everything passes", waiting)
	}
	desired := map[types.UID]bool{}
	for _, p := range g.mux.Pods() {
		desired[p.Pod.UID] = true
		if _, has := l.pods[p.Pod.UID]; !has {
			t.Errorf("at the end %s is desired, and the loop does not have it", p.Pod.UID)
		}
	}
	for uid := range l.pods {
		if !desired[uid] {
			t.Errorf("at the end the loop has %s, which is not desired", uid)
		}
	}
}

// checkSuppressed checks that the disk has the same holds of filters as the mux.
func (d *disk) checkSuppressed(t *testing.T, step int, g *gated) {
	t.Helper()
	for id, r := range d.records {
		src := g.mux.store.sources[id.Source]
		e := src.docs.Entry(id.ID)
		var want *state.Suppressed
		if e != nil && src.slots[e.Identity].first == e {
			want = src.slots[e.Identity].keptHold()
		}
		if e != nil && e.Suppressed != nil {
			want = e.Suppressed
		}
		if have := r.Suppressed; (have == nil) != (want == nil) || have != nil && !have.Since.Equal(want.Since) {
			t.Errorf("step %d: a restart would think that %s is held back: %+v, want %+v", step, id, have, want)
		}
	}
}
