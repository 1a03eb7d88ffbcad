package admission

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/status"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// rig is a Waits on a real store. Its clock advances by a minute whenever it is read.
type rig struct {
	*Waits
	store *status.Store

	mu     sync.Mutex
	events []string
	clock  time.Time
}

func newRig() *rig {
	r := &rig{store: status.NewStore(), clock: noon}
	r.Waits = NewWaits(r.store, r, func() time.Time {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.clock = r.clock.Add(time.Minute)
		return r.clock
	})
	return r
}

func (r *rig) Event(p *v1.Pod, eventType, reason, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, fmt.Sprintf("%s %s %s: %s", eventType, p.UID, reason, message))
}

func (r *rig) expectEvents(t *testing.T, want ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if d := cmp.Diff(want, r.events); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	r.events = nil
}

// runs stores the status of a running pod for p.
func (r *rig) runs(t *testing.T, p *v1.Pod) {
	t.Helper()
	st := v1.PodStatus{Phase: v1.PodRunning, StartTime: new(metav1.NewTime(noon)), Reason: "R"}
	if _, err := r.store.Set(p, st); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) status(t *testing.T, uid types.UID) v1.PodStatus {
	t.Helper()
	st, ok := r.store.Get(uid)
	if !ok {
		t.Fatalf("pod %s has no status", uid)
	}
	return st
}

func newPod(uid types.UID) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "pod-" + string(uid), UID: uid, Generation: 3}}
	p.Spec.Containers = []v1.Container{{Name: "c", Image: "img"}}
	return p
}

func verdict(answer api.Answer, message string) api.Verdict {
	return api.Verdict{Answer: answer, Reason: "Policy" + string(answer), Message: message, Policy: "p"}
}

// held returns a wait of a new pod that is held.
func held(p *v1.Pod, message string) api.Waiting {
	return api.Waiting{Pod: p, Verdict: verdict(api.Hold, message), RetryAt: noon.Add(time.Hour)}
}

// update returns a wait of an update while the version running continues to run.
func update(p, running *v1.Pod, answer api.Answer, message string) api.Waiting {
	return api.Waiting{Pod: p, Running: running, Verdict: verdict(answer, message)}
}

// suppressed returns a wait of an update that policies admit and a filter holds back.
func suppressed(p, running *v1.Pod, until time.Time) api.Waiting {
	return api.Waiting{Pod: p, Running: running, Verdict: verdict(api.Hold, "at night"), Suppressed: true, Until: until}
}

func mark(kind v1.PodConditionType, reason, message string, minute int) v1.PodCondition {
	return v1.PodCondition{
		Type: kind, Status: v1.ConditionFalse, Reason: reason, Message: message, ObservedGeneration: 3,
		LastTransitionTime: metav1.NewTime(noon.Add(time.Duration(minute) * time.Minute)),
	}
}
