package syncloop

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

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
	left := l.leftRunning()
	for i := range byAge {
		c := &byAge[i]
		m := l.pods.add(c)
		result := l.judge(m, left[c.New.UID])
		if !result.Admitted {
			// That a restored pod was refused was said when it was.
			l.reject(m, result, c.Op != pod.Restore || !refused(c.Verdict))
			continue
		}
		said := c.Verdict
		if c.Op == pod.Add {
			said = nil
		}
		l.warn(m, said)
		l.cfg.Workers.Update(worker.Request{Kind: worker.Create, Pod: m.pod, Origin: m.origin, After: c.Replaces})
	}
}

// leftRunning are the pods that run already and have no worker: those that an
// earlier agent left.
func (l *Loop) leftRunning() map[types.UID]bool {
	running := map[types.UID]bool{}
	for _, s := range l.cfg.Workers.Strays() {
		running[s.UID] = true
	}
	return running
}

// others are the active pods beside the one with that UID.
func (l *Loop) others(uid types.UID) []*v1.Pod {
	var active []*v1.Pod
	for other, m := range l.pods.all() {
		if other != uid && l.active(m) {
			active = append(active, m.pod)
		}
	}
	return active
}

// active reports whether the pod may use the node: it is still being ended, or
// was admitted and has not ended.
func (l *Loop) active(m member) bool {
	if l.cfg.Workers.KnownTerminated(m.pod.UID) {
		return false
	}
	return l.cfg.Workers.TerminationRequested(m.pod.UID) || !m.rejected && !l.ended(m.pod)
}

// ended reports whether the pod's phase is one it never leaves, by its source
// or by what the agent found.
func (l *Loop) ended(p *v1.Pod) bool {
	st, _ := l.cfg.Statuses.Get(p.UID)
	return pod.IsTerminal(p.Status.Phase) || pod.IsTerminal(st.Phase)
}
