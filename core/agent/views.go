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

// PodList returns the pods of this node with their statuses, ordered by namespace and name: the
// wanted pods, and the terminating ones, which have a deletion timestamp.
func (n *Node) PodList() *v1.PodList {
	list := &v1.PodList{}
	wanted := map[string]bool{}
	failed := lastFailures(n.events.List())
	for _, d := range n.mux.Pods() {
		if pod.IsMirror(d.Pod) {
			continue // a mirror pod only shows another pod; nothing of it runs
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

// runningPods returns the pods that run in the runtime, with the names and images of their containers
// that run.
func (n *Node) runningPods() *v1.PodList {
	list := &v1.PodList{}
	for _, seen := range n.inspectedPods() {
		p := v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: seen.Namespace, Name: seen.Name, UID: seen.UID}}
		for i := range seen.Containers {
			if c := &seen.Containers[i]; c.State == status.StateRunning {
				p.Spec.Containers = append(p.Spec.Containers, v1.Container{Name: c.Name, Image: c.Image})
			}
		}
		if len(p.Spec.Containers) > 0 {
			list.Items = append(list.Items, p)
		}
	}
	return list
}

// reported returns p with its newest status. The pod itself is shared, so the result is a shallow
// copy.
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

// createdAt returns the time when a pod came to this node. That is when it was first seen, or its
// start if that is earlier: the state was lost, and a running pod was adopted.
func createdAt(firstSeen time.Time, started *metav1.Time) metav1.Time {
	if !started.IsZero() && started.Time.Before(firstSeen) {
		return *started
	}
	return metav1.NewTime(firstSeen)
}

// shown returns the status of a pod as the agent reports it.
func (n *Node) shown(p *v1.Pod, st v1.PodStatus) v1.PodStatus {
	return n.adoption.Shown(p, st, func(uid types.UID) status.ObservedPod {
		seen, _ := n.cache.Get(uid)
		return seen
	})
}

// asked lists the versions of pods that wait. The list includes versions without an answer yet, and
// says what their answers wait for.
type asked struct {
	// waits has the versions with an answer, questions those without.
	waits     interface{ List() []api.Waiting }
	questions interface{ Asked() []api.Waiting }
	// plane says what the answer to a question waits for, and which policy is answering; nil for an
	// agent without policies.
	plane interface {
		Asked(hook string, name types.NamespacedName, uid types.UID) (policy, message string)
	}
	adoption interface{ Unlisted() bool }
}

// asking returns the waiting versions of this agent.
func (n *Node) asking() *asked {
	s := &asked{waits: n.waits, questions: n.mux, adoption: n.adoption}
	if n.policies != nil {
		s.plane = n.policies
	}
	return s
}

// List returns the waiting versions, ordered by namespace and name of the pod.
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

// explain adds what the answer waits for.
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

// origins returns the origins of the pods of this node by UID, for wanted and terminating pods.
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

// verdicts returns the verdicts that are stored with the pods of this node, by UID.
func (n *Node) verdicts() map[types.UID]*api.Verdict {
	stored := map[types.UID]*api.Verdict{}
	for _, d := range n.mux.Pods() {
		if d.Verdict != nil {
			stored[d.Pod.UID] = d.Verdict
		}
	}
	return stored
}

// The reasons why a container waits, if nothing more is known.
const (
	reasonCreating     = "ContainerCreating"
	reasonInitializing = "PodInitializing"
)

// failures are the last failures of pods that are starting, by UID.
type failures map[types.UID]string

// lastFailures returns the last failure of each pod. events has the newest last. A failure before
// the last start of one of the pod's containers is ignored.
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

// explain adds the failure to those containers of a pod that are not created yet.
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
			st.ContainerStatuses = slices.Clone(shared) // the status is shared
		}
		st.ContainerStatuses[i].State.Waiting = &v1.ContainerStateWaiting{Reason: w.Reason, Message: why}
	}
}
