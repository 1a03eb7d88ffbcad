package syncloop

import (
	"slices"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/worker"
)

// take handles an update of the mux: its changes in their order, additions of
// one kind by age, and only then the sources it completes.
func (l *Loop) take(u *pod.Update) {
	changes := u.Changes
	for len(changes) > 0 {
		end := slices.IndexFunc(changes, func(c pod.Change) bool { return c.Op != changes[0].Op })
		if end < 0 {
			end = len(changes)
		}
		l.dispatch(changes[0].Op, changes[:end])
		changes = changes[end:]
	}
	l.sources.mark(u.Seen)
}

// dispatch handles changes of one kind.
func (l *Loop) dispatch(op pod.Op, changes []pod.Change) {
	if op == pod.Restore || op == pod.Add {
		l.add(changes)
		return
	}
	for i := range changes {
		c := &changes[i]
		switch op {
		case pod.UpdateOp, pod.Delete:
			l.pods.put(c)
			l.request(worker.Update, member{c.New, c.Origin})
		case pod.Remove:
			l.pods.remove(c.Old.UID)
			l.request(worker.Kill, member{c.Old, c.Origin})
		case pod.Reconcile:
			l.pods.put(c)
		default:
			l.cfg.Log.Error("change of an unknown kind ignored", "op", string(op), "source", c.Source, "uid", c.Pod().UID)
		}
	}
}
