package admission

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// Statuses hold the newest status of every pod; see status.Store.
type Statuses interface {
	Set(p *v1.Pod, st v1.PodStatus) (bool, error)
	SetWaiting(uid types.UID, conditions ...v1.PodCondition)
	Delete(uid types.UID)
}

// Events records events about pods.
type Events interface {
	Event(p *v1.Pod, eventType, reason, message string)
}

// Waits has the versions of pods that policy does not admit, and shows each in the status of one
// pod: the version that still runs, or the waiting version if nothing runs. That pod's UID is the
// key. No method blocks on anything but the stores, and all are safe for concurrent use.
type Waits struct {
	statuses Statuses
	events   Events
	now      func() time.Time

	mu      sync.Mutex
	waiting map[types.UID]api.Waiting
}

// NewWaits returns empty Waits. now is the wall clock.
func NewWaits(statuses Statuses, events Events, now func() time.Time) *Waits {
	return &Waits{statuses: statuses, events: events, now: now, waiting: map[types.UID]api.Waiting{}}
}

// Waits records that a version waits, or the new answer of policy or a filter. It writes a warning
// event for a verdict with new content.
func (w *Waits) Waits(x api.Waiting) {
	w.mu.Lock()
	defer w.mu.Unlock()
	uid := key(&x)
	old, known := w.waiting[uid]
	w.waiting[uid] = x
	w.show(&x)
	if !known || !old.Verdict.Same(&x.Verdict) {
		w.events.Event(bearer(&x), v1.EventTypeWarning, x.Verdict.Reason, headline(&x)+": "+why(&x))
	}
}

// Passed records that no version of the pod with this UID waits any more. The status of a pod that
// was held stays until the pod's worker replaces it.
func (w *Waits) Passed(uid types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.waiting, uid)
	w.statuses.SetWaiting(uid)
}

// Gone records that the waiting pod is no longer wanted. If nothing of the pod runs, Gone deletes
// its status, too, because no worker does that.
func (w *Waits) Gone(uid types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	x, known := w.waiting[uid]
	delete(w.waiting, uid)
	if known && x.Running == nil {
		w.statuses.Delete(uid)
		return
	}
	w.statuses.SetWaiting(uid)
}

// Forgotten records that another component has deleted the status of the pod. A worker does that
// after it has finished an earlier pod of the same UID. Forgotten shows the waiting version again.
func (w *Waits) Forgotten(uid types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if x, known := w.waiting[uid]; known {
		w.show(&x)
	}
}

// List returns the waiting versions, ordered by namespace and name of the waiting pod.
func (w *Waits) List() []api.Waiting {
	w.mu.Lock()
	list := slices.Collect(maps.Values(w.waiting))
	w.mu.Unlock()
	slices.SortFunc(list, func(a, b api.Waiting) int {
		return cmp.Or(cmp.Compare(a.Pod.Namespace, b.Pod.Namespace), cmp.Compare(a.Pod.Name, b.Pod.Name),
			cmp.Compare(a.Pod.UID, b.Pod.UID))
	})
	return list
}

// show updates the status of the pod that shows x. A held pod has no start time yet. It has no
// reason either: the reason would stay for as long as the pod is pending, also after it was
// admitted.
func (w *Waits) show(x *api.Waiting) {
	c := v1.PodCondition{
		Type:               api.ConditionUpdateAdmitted,
		Status:             v1.ConditionFalse,
		Reason:             x.Verdict.Reason,
		Message:            x.Verdict.Message,
		ObservedGeneration: x.Pod.Generation,
		LastTransitionTime: metav1.NewTime(w.now()),
	}
	if x.Running == nil {
		c.Type = api.ConditionAdmitted
		if _, err := w.statuses.Set(x.Pod, v1.PodStatus{Phase: v1.PodPending, QOSClass: pod.QOS(x.Pod)}); err != nil {
			w.events.Event(x.Pod, v1.EventTypeWarning, "StatusNotStored", err.Error())
		}
	}
	w.statuses.SetWaiting(key(x), c)
}

// bearer returns the pod whose status shows x.
func bearer(x *api.Waiting) *v1.Pod {
	if x.Running != nil {
		return x.Running
	}
	return x.Pod
}

func key(x *api.Waiting) types.UID { return bearer(x).UID }

// headline returns the beginning of an event's message. A version that a filter holds back is
// already admitted: it takes effect at the latest at its deadline.
func headline(x *api.Waiting) string {
	text := "held"
	switch {
	case x.Suppressed && x.Until.IsZero():
		text = "suppressed"
	case x.Suppressed:
		text = "suppressed, passes at " + x.Until.UTC().Format(time.RFC3339) + " at the latest"
	case x.Verdict.Answer == api.Deny:
		text = "denied"
	}
	if x.Running != nil {
		return "update " + text
	}
	return text
}

// why returns the reason why x waits.
func why(x *api.Waiting) string {
	if x.Verdict.Message == "" && x.Verdict.Reason == api.ReasonNotAnswered {
		return "the filter has not answered yet"
	}
	return x.Verdict.Message
}
