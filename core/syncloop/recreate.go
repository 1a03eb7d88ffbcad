package syncloop

import (
	"cmp"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// reasonCleaningUp is why a pod that has come back has not begun to start.
const reasonCleaningUp = "CleaningUp"

// cleanUpPatience is how long a pod waits at most for what is left of an earlier life, if
// it starts whatever that shows.
const cleanUpPatience = 30 * time.Second

// returning reports whether a new pod has the UID of one that is being ended, or that
// has left something on the node. It comes back when nothing of that is left, and is
// judged then: meanwhile it has no room on the node.
func (l *Loop) returning(m member) bool {
	uid := m.pod.UID
	if refused(m.verdict) || pod.IsTerminal(m.pod.Status.Phase) {
		return false
	}
	_, former := l.former[uid]
	former = former || l.cfg.Workers.Former(uid, m.origin.FirstSeen) || l.remadeBefore(m)
	left := former && !l.cfg.Workers.Has(uid) && l.remains(uid)
	if !l.cfg.Workers.Return(uid) && !left {
		return false
	}
	m.returns, l.former[uid] = true, time.Time{}
	l.pods.put(m)
	l.lookAgain()
	return true
}

// remains reports whether something of a pod is on the node.
func (l *Loop) remains(uid types.UID) bool {
	return l.cfg.Workers.Remains(uid) || l.cfg.Begun != nil && l.cfg.Begun(uid)
}

// welcome judges the pods that have come back, when nothing is left of those that had
// their UIDs: after those that wait, oldest first.
func (l *Loop) welcome() {
	var returned []member
	for uid := range l.former {
		m, _ := l.pods.get(uid)
		if m.returns && !l.cfg.Workers.Has(uid) && !l.waitsForCleanUp(m) {
			returned = append(returned, m)
		}
	}
	if len(returned) == 0 {
		return
	}
	l.judgeWaiting()
	slices.SortFunc(returned, byAge)
	for _, m := range returned {
		l.present() // those without it
		delete(l.former, m.pod.UID)
		m.returns = false
		l.pods.put(m)
		if result := l.judge(m, false); result.Admitted {
			l.admit(m, result, nil, false)
		} else {
			l.reject(m, result, true)
		}
	}
}

// waitsForCleanUp reports whether something of an earlier life of a pod that has come
// back is in its way, and shows that. By what is left of it the pod may seem to have
// ended. What still runs of it ends, for nobody else would see to that.
func (l *Loop) waitsForCleanUp(m member) bool {
	uid := m.pod.UID
	since, now := l.former[uid], l.cfg.Now()
	if !l.remains(uid) {
		if !since.IsZero() {
			l.pending(m, "", "")
		}
		return false
	}
	for _, s := range l.cfg.Workers.Strays() {
		if s.UID == uid {
			l.cfg.Log.Info("pod has come back, what runs of its former life is ended", "pod", s.Namespace+"/"+s.Name, "uid", uid, "source", s.Source)
			l.cfg.Workers.KillStray(&s)
			l.former[uid] = time.Time{}
			return true
		}
	}
	switch {
	case since.IsZero():
		l.former[uid] = now
		l.pending(m, reasonCleaningUp, "Pod starts when what is left of the pod that had its UID before is removed")
	case now.Sub(since) >= cleanUpPatience && alwaysStarts(m.pod):
		l.cfg.Log.Warn("pod starts although its former life could not be removed", "pod", m.pod.Namespace+"/"+m.pod.Name, "uid", uid)
		l.pending(m, "", "")
		return false
	}
	return true
}

// alwaysStarts reports whether the containers of a pod start however an instance of
// them ended.
func alwaysStarts(p *v1.Pod) bool {
	return p.Spec.RestartPolicy == v1.RestartPolicyAlways &&
		!slices.ContainsFunc(p.Spec.Containers, func(c v1.Container) bool { return c.RestartPolicy != nil })
}

// forgetFormer forgets the pods that have gone, with all they left.
func (l *Loop) forgetFormer() {
	for uid := range l.former {
		if !l.pods.has(uid) && !l.cfg.Workers.Has(uid) && !l.remains(uid) {
			delete(l.former, uid)
		}
	}
}

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
