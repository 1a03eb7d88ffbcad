package agent

import (
	"cmp"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// PodList returns the pods of this node with their statuses, ordered by
// namespace and name: those that are wanted, and those that are being ended,
// which bear a deletion timestamp.
func (n *Node) PodList() *v1.PodList {
	list := &v1.PodList{}
	wanted := map[string]bool{}
	failed := lastFailures(n.events.List())
	for _, d := range n.mux.Pods() {
		if pod.IsMirror(d.Pod) {
			continue // a picture of another one; nothing of it runs
		}
		wanted[string(d.Pod.UID)] = true
		list.Items = append(list.Items, n.reported(d.Pod, d.Known, failed))
	}
	for _, e := range n.workers.TerminatingPods() {
		if wanted[string(e.Pod.UID)] {
			continue
		}
		p := n.reported(e.Pod, e.Origin.FirstSeen, failed)
		if p.DeletionTimestamp == nil {
			p.DeletionTimestamp = new(metav1.NewTime(e.Since))
			p.DeletionGracePeriodSeconds = &e.Grace
		}
		list.Items = append(list.Items, p)
	}
	slices.SortFunc(list.Items, func(x, y v1.Pod) int {
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name), cmp.Compare(x.UID, y.UID))
	})
	return list
}

// reported is p with its newest status. The pod itself is shared; what is
// changed here is a shallow copy.
func (n *Node) reported(p *v1.Pod, firstSeen time.Time, failed failures) v1.Pod {
	out := *p
	if st, ok := n.statuses.Get(p.UID); ok {
		out.Status = n.shown(p, st)
		explainPulls(&out.Status, n.images.Pulling(p.UID), time.Now())
		failed.explain(p.UID, &out.Status)
	}
	if out.CreationTimestamp.IsZero() {
		out.CreationTimestamp = createdAt(firstSeen, out.Status.StartTime)
	}
	return out
}

// createdAt is when a pod came to this node: when it was first seen, or started, which is
// the earlier one where the state was lost and what ran was adopted.
func createdAt(firstSeen time.Time, started *metav1.Time) metav1.Time {
	if !started.IsZero() && started.Time.Before(firstSeen) {
		return *started
	}
	return metav1.NewTime(firstSeen)
}

// shown is the status of a pod as it is given out.
func (n *Node) shown(p *v1.Pod, st v1.PodStatus) v1.PodStatus {
	return n.adoption.Shown(p, st, func(uid types.UID) status.ObservedPod {
		seen, _ := n.cache.Get(uid)
		return seen
	})
}

// asked returns the versions of pods that wait, as they are shown: also those about
// which nothing was answered yet, and with what the answer waits for.
type asked struct {
	// waits have what was answered, questions what was not.
	waits     interface{ List() []api.Waiting }
	questions interface{ Asked() []api.Waiting }
	// plane says what the answer to a question waits for, and which policy is at it;
	// nil for an agent without policies.
	plane interface {
		Asked(hook string, name types.NamespacedName, uid types.UID) (policy, message string)
	}
	adoption interface{ Unlisted() bool }
}

// asking are the waits of this agent.
func (n *Node) asking() *asked {
	s := &asked{waits: n.waits, questions: n.mux, adoption: n.adoption}
	if n.policies != nil {
		s.plane = n.policies
	}
	return s
}

// List returns what waits, ordered by namespace and name of the waiting pod.
func (s *asked) List() []api.Waiting {
	list := s.waits.List()
	for _, x := range s.questions.Asked() {
		s.explain(&x)
		i := slices.IndexFunc(list, func(w api.Waiting) bool {
			return w.Pod.UID == x.Pod.UID && w.Origin.Source == x.Origin.Source && w.Origin.Document == x.Origin.Document
		})
		if i < 0 {
			list = append(list, x)
			continue
		}
		list[i].Asked = x.Asked
	}
	slices.SortStableFunc(list, func(a, b api.Waiting) int {
		return cmp.Or(cmp.Compare(a.Pod.Namespace, b.Pod.Namespace), cmp.Compare(a.Pod.Name, b.Pod.Name), cmp.Compare(a.Pod.UID, b.Pod.UID))
	})
	return list
}

// explain says what the answer waits for.
func (s *asked) explain(x *api.Waiting) {
	name := types.NamespacedName{Namespace: x.Pod.Namespace, Name: x.Pod.Name}
	switch {
	case s.plane == nil:
		return
	case x.Asked.Hook == api.HookMerge:
		name = pod.Identity(x.Pod)
	case (x.Asked.Hook == api.HookAdmit || x.Running == nil) && s.adoption.Unlisted():
		x.Asked.Message = "the runtime has not been listed yet, so it is not known what runs"
		return
	}
	x.Asked.Policy, x.Asked.Message = s.plane.Asked(x.Asked.Hook, name, x.Pod.UID)
}

// origins are where the pods of this node come from, by UID: those that are wanted,
// and those that are being ended.
func (n *Node) origins() map[types.UID]api.Origin {
	from := map[types.UID]api.Origin{}
	for _, e := range n.workers.TerminatingPods() {
		from[e.Pod.UID] = e.Origin
	}
	for _, d := range n.mux.Pods() {
		from[d.Pod.UID] = d.Origin
	}
	return from
}

// verdicts are those that are stored with the pods of this node, by UID.
func (n *Node) verdicts() map[types.UID]*api.Verdict {
	stored := map[types.UID]*api.Verdict{}
	for _, d := range n.mux.Pods() {
		if d.Verdict != nil {
			stored[d.Pod.UID] = d.Verdict
		}
	}
	return stored
}

// Why a container waits of which nothing more is known.
const (
	reasonCreating     = "ContainerCreating"
	reasonInitializing = "PodInitializing"
)

// failures are the last failures of pods that are being started, by UID.
type failures map[types.UID]string

// lastFailures reads the events, newest last. What failed before a container of the pod
// started counts no longer.
func lastFailures(events []api.Event) failures {
	last, known := failures{}, map[types.UID]bool{}
	for i := range slices.Backward(events) {
		e := &events[i]
		failed := e.Type == v1.EventTypeWarning && (strings.HasPrefix(e.Reason, "Failed") || e.Reason == "NetworkNotReady")
		if known[e.UID] || !failed && e.Reason != "Started" {
			continue
		}
		known[e.UID] = true
		if failed {
			last[e.UID] = e.Reason + ": " + e.Message
		}
	}
	return last
}

// explain adds to the containers of a pod that are not made yet why not.
func (f failures) explain(uid types.UID, st *v1.PodStatus) {
	why := f[uid]
	if why == "" || st.Phase != v1.PodPending {
		return
	}
	shared := st.ContainerStatuses
	for i := range shared {
		w := shared[i].State.Waiting
		if w == nil || w.Reason != reasonCreating || w.Message != "" {
			continue
		}
		if &shared[0] == &st.ContainerStatuses[0] {
			st.ContainerStatuses = slices.Clone(shared) // the status is others', too
		}
		st.ContainerStatuses[i].State.Waiting = &v1.ContainerStateWaiting{Reason: w.Reason, Message: why}
	}
}
