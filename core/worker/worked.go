package worker

import (
	"time"

	v1 "k8s.io/api/core/v1"
)

// Observer counts what workers do. Workers of different pods call it at once, and
// wait for it: it must not block.
type Observer interface {
	// Worked says that a turn of a worker has ended, well or not, and how long it
	// took. operation is create, update or sync for a pod that is to run, kill while
	// its containers are stopped, and terminated once they have.
	Worked(operation string, took time.Duration)
}

// worked tells the observer of a turn. before is the version of the pod that the
// turn before was about, nil for the first one.
func (p *Pool) worked(t *turn, before *v1.Pod, took time.Duration) {
	if p.cfg.Observer != nil {
		p.cfg.Observer.Worked(t.operation(before), took)
	}
}

// operation is what a turn does, in a kubelet's words.
func (t *turn) operation(before *v1.Pod) string {
	switch {
	case t.state == Terminating:
		return "kill"
	case t.state == Terminated:
		return "terminated"
	case before == nil:
		return "create"
	case t.pod != before:
		return "update"
	}
	return "sync"
}
