package syncloop

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

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
