package syncloop

import (
	"cmp"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// reasonReplaced is why a pod ends whose document has changed under its UID.
const reasonReplaced = "Replaced"

// remade returns the first field in which a newer version of a static pod is made otherwise
// than the one that its worker runs; "" where there is none, and where the pod has not begun
// or ends anyway: then the newest version is the one that starts, or none does. Two versions
// of one document are made alike, whatever defaults they were given.
func (l *Loop) remade(before member, c *api.Change) string {
	uid := c.New.UID
	_, waits := l.waiting[uid]
	_, arrives := l.arrivals[uid]
	switch {
	case before.pod == nil || !pod.IsStatic(c.New) || before.rejected || before.returns || waits || arrives:
		return ""
	case l.cfg.Workers.TerminationRequested(uid), l.ended(before.pod):
		return ""
	case pod.SameInstance(before.pod, c.New):
		return ""
	}
	return pod.Remade(before.pod, c.New)
}

// replace ends a pod and has it come back under its UID as the newer version, as if its
// source had taken it away and brought it back: it is judged when the former one has left.
func (l *Loop) replace(before member, c *api.Change, path string) {
	l.cfg.Events.Event(before.pod, v1.EventTypeNormal, reasonReplaced, path+" has changed: the pod is replaced under its UID")
	l.cfg.Log.Info("pod is replaced under its UID", "pod", c.New.Namespace+"/"+c.New.Name, "uid", c.New.UID, "source", c.Source, "changed", path)
	l.remove(&api.Change{Op: api.Remove, Source: c.Source, Old: before.pod, Origin: before.origin})
	l.add([]api.Change{{Op: api.Add, Source: c.Source, New: c.New, Origin: c.Origin, Verdict: cmp.Or(c.Verdict, before.verdict)}})
}

// remadeBefore reports whether a pod that an earlier agent has begun with, and that is not
// known to have ended, is made otherwise now: that agent knew of the edit and was killed
// before it could replace the pod, or its state is lost. How the former one fared is not
// kept for this one.
func (l *Loop) remadeBefore(m member) bool {
	if l.cfg.Workers.Has(m.pod.UID) || !l.cfg.Workers.Remade(m.pod, &m.origin) {
		return false
	}
	l.taken(m)
	if l.cfg.Outcomes != nil && l.cfg.Outcomes.Ended(m.pod) {
		l.showEdit(m.pod, "the document")
		return false
	}
	l.forget(m.pod.UID)
	return true
}
