package agent

import (
	"cmp"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// PodList gives the pods of this node with their statuses, ordered by
// namespace and name: those that are wanted, and those that are being ended,
// which bear a deletion timestamp.
func (a *Agent) PodList() *v1.PodList {
	list := &v1.PodList{}
	wanted := map[string]bool{}
	failed := lastFailures(a.events.List())
	for _, d := range a.mux.Pods() {
		if pod.IsMirror(d.Pod) {
			continue // a picture of another one; nothing of it runs
		}
		wanted[string(d.Pod.UID)] = true
		list.Items = append(list.Items, a.reported(d.Pod, d.Known, failed))
	}
	for _, e := range a.workers.Ending() {
		if wanted[string(e.Pod.UID)] {
			continue
		}
		p := a.reported(e.Pod, e.Origin.FirstSeen, failed)
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
func (a *Agent) reported(p *v1.Pod, firstSeen time.Time, failed failures) v1.Pod {
	out := *p
	if st, ok := a.statuses.Get(p.UID); ok {
		out.Status = a.shown(p, st)
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
