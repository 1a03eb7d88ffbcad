package syncloop

import (
	"slices"

	"github.com/wardlet/wardlet/core/pod"
)

// returning reports whether a new pod has the UID of one that is being ended. It comes
// back when that has left, and is judged then: meanwhile it has no room on the node.
func (l *Loop) returning(m member) bool {
	if refused(m.verdict) || pod.IsTerminal(m.pod.Status.Phase) || !l.cfg.Workers.TerminationRequested(m.pod.UID) {
		return false
	}
	l.hand(m)
	m.returns = l.cfg.Workers.TerminationRequested(m.pod.UID) // else the worker is a new one
	l.pods.put(m)
	l.lookAgain()
	return true
}

// welcome judges the pods that have come back, when their UIDs have no workers any
// more: after those that wait, oldest first.
func (l *Loop) welcome(returned []member) {
	if len(returned) == 0 {
		return
	}
	l.judgeWaiting()
	slices.SortFunc(returned, byAge)
	for _, m := range returned {
		l.present() // those without it
		m.returns = false
		l.pods.put(m)
		if result := l.judge(m, false); result.Admitted {
			l.admit(m, result, nil, false)
		} else {
			l.reject(m, result, true)
		}
	}
}
