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

// reasonCleaningUp is the reason in the status of a recreated pod that waits for the cleanup of the
// earlier pod.
const reasonCleaningUp = "CleaningUp"

// cleanupTimeout is how long a recreated pod waits until the remains of the earlier pod are
// removed. It applies only to pods whose containers always restart.
const cleanupTimeout = 30 * time.Second

// awaitsTermination reports whether a new pod has the UID of a pod that is being terminated or that
// has left something on the node. The new pod is then marked as recreated, does not use the node,
// and is judged when nothing of the earlier pod is left.
func (l *Loop) awaitsTermination(m member) bool {
	uid := m.pod.UID
	if refused(m.verdict) || pod.IsTerminal(m.pod.Status.Phase) {
		return false
	}
	_, former := l.terminating[uid]
	former = former || l.cfg.Workers.RunsEarlierPod(uid, m.origin.FirstSeen) || l.changedWhileDown(m)
	left := former && !l.cfg.Workers.Has(uid) && l.remains(uid)
	if !l.cfg.Workers.Recreate(uid) && !left {
		return false
	}
	m.recreated, l.terminating[uid] = true, time.Time{}
	l.pods.put(m)
	l.invalidateUsers()
	return true
}

// remains reports whether something of a pod is on the node.
func (l *Loop) remains(uid types.UID) bool {
	return l.cfg.Workers.InRuntime(uid) || l.cfg.Begun != nil && l.cfg.Begun(uid)
}

// admitRecreated judges the recreated pods for whose UIDs nothing is left on the node: after the
// waiting pods, oldest first.
func (l *Loop) admitRecreated() {
	var returned []member
	for uid := range l.terminating {
		m, _ := l.pods.get(uid)
		if m.recreated && !l.cfg.Workers.Has(uid) && !l.awaitsCleanup(m) {
			returned = append(returned, m)
		}
	}
	if len(returned) == 0 {
		return
	}
	l.judgeWaiting()
	slices.SortFunc(returned, byAge)
	for _, m := range returned {
		l.nodeUsers() // list the users before m is judged
		delete(l.terminating, m.pod.UID)
		m.recreated = false
		l.pods.put(m)
		if result := l.judge(m, false); result.Admitted {
			l.admit(m, result, nil, false)
		} else {
			l.reject(m, result, true)
		}
	}
}

// awaitsCleanup reports whether the remains of the earlier pod keep a recreated pod from starting,
// and shows that in its status. Because of such remains the new pod could seem to have ended.
// Containers that still run are terminated here, because the earlier pod has no worker.
func (l *Loop) awaitsCleanup(m member) bool {
	uid := m.pod.UID
	since, now := l.terminating[uid], l.cfg.Now()
	if !l.remains(uid) {
		if !since.IsZero() {
			l.setPending(m, "", "")
		}
		return false
	}
	for _, s := range l.cfg.Workers.Orphans() {
		if s.UID == uid {
			l.cfg.Log.Info("pod is back; terminating its earlier containers", "pod", s.Namespace+"/"+s.Name, "uid", uid, "source", s.Source)
			l.cfg.Workers.KillOrphan(&s)
			l.terminating[uid] = time.Time{}
			return true
		}
	}
	switch {
	case since.IsZero():
		l.terminating[uid] = now
		l.setPending(m, reasonCleaningUp, "Pod starts when what is left of the pod that had its UID before is removed")
	case now.Sub(since) >= cleanupTimeout && alwaysRestarts(m.pod):
		l.cfg.Log.Warn("pod starts although its earlier sandboxes could not be removed", "pod", m.pod.Namespace+"/"+m.pod.Name, "uid", uid)
		l.setPending(m, "", "")
		return false
	}
	return true
}

// alwaysRestarts reports whether the containers of a pod start regardless of how their earlier
// instances exited.
func alwaysRestarts(p *v1.Pod) bool {
	return p.Spec.RestartPolicy == v1.RestartPolicyAlways &&
		!slices.ContainsFunc(p.Spec.Containers, func(c v1.Container) bool { return c.RestartPolicy != nil })
}

// forgetTerminated forgets the terminated pods of which nothing is left.
func (l *Loop) forgetTerminated() {
	for uid := range l.terminating {
		if !l.pods.has(uid) && !l.cfg.Workers.Has(uid) && !l.remains(uid) {
			delete(l.terminating, uid)
		}
	}
}

// reasonReplaced is the reason of the event for a pod that is replaced because its document has
// changed under its UID.
const reasonReplaced = "Replaced"

// replacingField returns the first field of a newer version of a static pod that requires the
// running pod to be replaced. It returns "" if there is none. It also returns "" if the pod has not
// started or is being terminated anyway: then the newest version starts later, or none does. Two
// versions of one document do not differ, whatever defaults were set in them.
func (l *Loop) replacingField(before member, c *api.Change) string {
	uid := c.New.UID
	_, waits := l.waiting[uid]
	_, arrives := l.pendingPreemptors[uid]
	switch {
	case before.pod == nil || !pod.IsStatic(c.New) || before.rejected || before.recreated || waits || arrives:
		return ""
	case l.cfg.Workers.TerminationRequested(uid), l.ended(before.pod):
		return ""
	case pod.SameInstance(before.pod, c.New):
		return ""
	}
	return pod.Remade(before.pod, c.New)
}

// replace terminates a pod and recreates it under its UID as the newer version, as if its source
// had removed it and added it again: the newer version is judged when nothing of the earlier pod is
// left.
func (l *Loop) replace(before member, c *api.Change, path string) {
	l.cfg.Events.Event(before.pod, v1.EventTypeNormal, reasonReplaced, path+" has changed: the pod is replaced under its UID")
	l.cfg.Log.Info("pod is replaced under its UID", "pod", c.New.Namespace+"/"+c.New.Name, "uid", c.New.UID, "source", c.Source, "changed", path)
	l.remove(&api.Change{Op: api.Remove, Source: c.Source, Old: before.pod, Origin: before.origin})
	l.add([]api.Change{{Op: api.Add, Source: c.Source, New: c.New, Origin: c.Origin, Verdict: cmp.Or(c.Verdict, before.verdict)}})
}

// changedWhileDown reports whether the document of a pod has changed since an earlier agent started
// the pod, and the pod is not known to have ended: that agent was killed before it could replace
// the pod, or its state is lost. The outcome of the earlier pod is then deleted.
func (l *Loop) changedWhileDown(m member) bool {
	if l.cfg.Workers.Has(m.pod.UID) || !l.cfg.Workers.ManifestChanged(m.pod, &m.origin) {
		return false
	}
	l.trackOutcome(m)
	if l.cfg.Outcomes != nil && l.cfg.Outcomes.Ended(m.pod) {
		l.reportIgnoredEdit(m.pod, "the document")
		return false
	}
	l.forgetOutcome(m.pod.UID)
	return true
}
