package syncloop

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
)

func (w *world) hasBegun(uid types.UID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.begun[uid]
}

func (w *world) CancelStart(uid types.UID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.unbegun[uid] {
		return false
	}
	w.requests = append(w.requests, "withdraw "+string(uid))
	delete(w.unbegun, uid)
	delete(w.workers, uid)
	return true
}

func (w *world) Ended(p *v1.Pod) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.outcomes[p.UID] != ""
}

func (w *world) Track(p *v1.Pod, since time.Time, restored bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := fmt.Sprintf("%s %s since %d", p.UID, p.Labels["version"], since.Unix())
	if restored {
		line += ", restored"
	}
	if n := len(w.taken); n == 0 || w.taken[n-1] != line {
		w.taken = append(w.taken, line)
	}
}

func (w *world) Rejected(p *v1.Pod, st *v1.PodStatus, kept func()) {
	w.mu.Lock()
	w.outcomes[p.UID] = st.Phase
	slow := w.slowDisk
	w.mu.Unlock()
	if slow > 0 {
		time.AfterFunc(slow, kept)
		return
	}
	kept()
}

func (w *world) Forget(uid types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.outcomes, uid)
}

// observed is an observer that records the reasons of rejections.
type observed struct{ *world }

func (o observed) Rejected(reason string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.counted = append(o.counted, reason)
}

func (w *world) Admit(a *admission.Attributes) admission.Result {
	w.mu.Lock()
	defer w.mu.Unlock()
	var others []string
	for _, o := range a.Others {
		others = append(others, o.Name)
	}
	for _, o := range a.Ending {
		others = append(others, o.Name+"!")
	}
	w.judged = append(w.judged, fmt.Sprint(a.Pod.Name, " beside ", others))
	if r, ok := w.refusals[a.Pod.UID]; ok {
		return r
	}
	return admission.Result{Admitted: true, Preemption: leaving(w.rooms[a.Pod.UID], a.Ending)}
}

// leaving returns a copy of room in which the victims that are already terminating are in
// Await.
func leaving(room *admission.Preemption, ending []*v1.Pod) *admission.Preemption {
	if room == nil {
		return nil
	}
	left := admission.Preemption{Await: slices.Clone(room.Await)}
	for _, p := range room.Victims {
		if slices.ContainsFunc(ending, func(e *v1.Pod) bool { return e.UID == p.UID }) {
			left.Await = append(left.Await, p)
		} else {
			left.Victims = append(left.Victims, p)
		}
	}
	return &left
}

// expectJudged compares the pods judged since the last call, as "pod beside [others]". A !
// marks other pods that are terminating.
func (w *world) expectJudged(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if diff := cmp.Diff(want, w.judged, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("judged (-want +got):\n%s", diff)
	}
	w.judged = nil
}
