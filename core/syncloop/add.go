package syncloop

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/worker"
)

// add takes in new pods, oldest first. Pods of the node's own sources have no
// age and come first. A pod is in the set before anything is decided about it.
func (l *Loop) add(changes []pod.Change) {
	byAge := slices.Clone(changes)
	slices.SortStableFunc(byAge, func(a, b pod.Change) int {
		return a.New.CreationTimestamp.Compare(b.New.CreationTimestamp.Time)
	})
	for i := range byAge {
		c := &byAge[i]
		l.pods.put(c)
		if l.admit(c.New) {
			l.request(worker.Create, member{c.New, c.Origin})
		}
	}
}

// admit has a new pod judged. One that has ended, or is ending, is past that.
// A pod that is rejected stays in the set and gets no worker.
func (l *Loop) admit(p *v1.Pod) bool {
	if l.cfg.Admitter == nil || pod.IsTerminal(p.Status.Phase) || l.cfg.Workers.TerminationRequested(p.UID) {
		return true
	}
	verdict := l.cfg.Admitter.Admit(p, l.others(p))
	if verdict.Admitted {
		return true
	}
	l.cfg.Events.Event(p, v1.EventTypeWarning, verdict.Reason, verdict.Message)
	if _, err := l.cfg.Statuses.Set(p, v1.PodStatus{
		Phase: v1.PodFailed, Reason: verdict.Reason, Message: "Pod was rejected: " + verdict.Message,
		QOSClass: pod.QOS(p),
	}); err != nil {
		l.cfg.Log.Error("status not stored", "pod", p.Namespace+"/"+p.Name, "uid", p.UID, "err", err)
	}
	return false
}

// others are the active pods beside p.
func (l *Loop) others(p *v1.Pod) []*v1.Pod {
	var active []*v1.Pod
	for uid, m := range l.pods.all() {
		if uid != p.UID && l.active(m.pod) {
			active = append(active, m.pod)
		}
	}
	return active
}

// active reports whether the pod may use the node: it has not ended, or is
// still being ended.
func (l *Loop) active(p *v1.Pod) bool {
	if l.cfg.Workers.KnownTerminated(p.UID) {
		return false
	}
	return !l.ended(p) || l.cfg.Workers.TerminationRequested(p.UID)
}

// ended reports whether the pod's phase is one it never leaves, by its source
// or by what the agent found.
func (l *Loop) ended(p *v1.Pod) bool {
	st, _ := l.cfg.Statuses.Get(p.UID)
	return pod.IsTerminal(p.Status.Phase) || pod.IsTerminal(st.Phase)
}
