package syncloop

import (
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/worker"
)

// handleUpdate handles an update of the mux: its changes in their order, consecutive additions by
// age, and then the sources whose first snapshot it completes.
func (l *Loop) handleUpdate(u *api.Update) {
	changes := u.Changes
	for len(changes) > 0 {
		end := slices.IndexFunc(changes, func(c api.Change) bool { return c.Op != changes[0].Op })
		if end < 0 {
			end = len(changes)
		}
		l.dispatch(changes[0].Op, changes[:end])
		changes = changes[end:]
	}
	l.sources.markHandled(u.Seen)
}

// dispatch handles changes of one kind.
func (l *Loop) dispatch(op api.Op, changes []api.Change) {
	if changes = l.withoutMirrors(op, changes); len(changes) == 0 {
		return
	}
	if op == api.Restore || op == api.Add {
		l.add(changes)
		return
	}
	if op == api.UpdateOp && slices.ContainsFunc(changes, func(c api.Change) bool { _, waits := l.waiting[c.New.UID]; return waits }) {
		defer l.retry() // after the update they may fit
	}
	for i := range changes {
		c := &changes[i]
		switch op {
		case api.UpdateOp:
			l.update(c)
		case api.Delete:
			m := l.pods.update(c)
			l.trackOutcome(m)
			l.request(worker.Update, m)
		case api.Remove:
			l.remove(c)
		case api.Evict:
			l.evict(c)
		case api.Reconcile:
			m := l.pods.update(c)
			l.trackOutcome(m)
			if pod.GatesChanged(c.Old, c.New) {
				l.request(worker.Sync, m) // the pod may have become ready or unready
			}
		default:
			l.cfg.Log.Error("change of an unknown kind ignored", "op", string(op), "source", c.Source, "uid", c.Pod().UID)
		}
	}
}

// withoutMirrors removes changes of mirror pods, which are copies of static pods in the API server:
// they are never started, judged or checked. A removal or deletion is kept if the set contains the
// pod, even if the pod has become a mirror pod.
func (l *Loop) withoutMirrors(op api.Op, changes []api.Change) []api.Change {
	mirrored := func(c api.Change) bool {
		ends := op == api.Remove || op == api.Delete
		return pod.IsMirror(c.Pod()) && (!ends || !l.pods.has(c.Pod().UID))
	}
	if !slices.ContainsFunc(changes, mirrored) {
		return changes
	}
	if l.cfg.MirrorsChanged != nil {
		l.cfg.MirrorsChanged()
	}
	return slices.DeleteFunc(slices.Clone(changes), mirrored)
}

// update passes a newer version on to the worker. A pod that was rejected for good does not start
// because of an update: it has to be removed and added again. The new
// version of a pod that waits for room may need less, and start.
func (l *Loop) update(c *api.Change) {
	before, _ := l.pods.get(c.New.UID)
	_, waits := l.waiting[c.New.UID]
	if c.Old != nil && pod.IsMirror(c.Old) {
		l.cfg.Log.Error("pod ignored: it is no mirror pod any more and was never admitted",
			"pod", c.New.Namespace+"/"+c.New.Name, "uid", c.New.UID, "source", c.Source)
		return
	}
	if refused(c.Verdict) && (!before.rejected || waits) {
		l.cfg.Log.Error("update ignored: policy rejects it; the pod stays as it is",
			"pod", c.New.Namespace+"/"+c.New.Name, "uid", c.New.UID, "source", c.Source)
		return
	}
	if path := l.replacingField(before, c); path != "" {
		l.replace(before, c, path)
		return
	}
	m := l.pods.update(c)
	l.trackOutcome(m)
	l.reportEdit(before, m)
	if waits {
		l.usersWhenRejected[m.pod.UID] = m.pod // the old version no longer uses the node
		return
	}
	if _, arrives := l.pendingPreemptors[m.pod.UID]; arrives {
		l.judgeAgain(m, before.verdict)
		return
	}
	if !m.rejected {
		if c.Verdict != nil {
			l.warn(m, before.verdict)
		}
		l.request(worker.Update, m)
		return
	}
	if refused(c.Verdict) && (before.verdict == nil || !c.Verdict.Same(before.verdict)) {
		l.reject(m, admission.Result{Reason: c.Verdict.Reason, Message: c.Verdict.Message}, true)
	}
}

// judgeAgain judges a pod again that has changed while other pods were preempted for it. before is
// the verdict about its previous version.
func (l *Loop) judgeAgain(m member, before *api.Verdict) {
	defer l.finishBatch()
	delete(l.pendingPreemptors, m.pod.UID)
	result := l.judge(m, false)
	if !result.Admitted {
		l.reject(m, result, true)
		return
	}
	l.setPending(m, "", "")
	l.admit(m, result, before, false)
}

// remove terminates a pod. If the pod was rejected or has not started, it has only a status, unless
// an earlier pod of its UID is still being terminated. Such a status is deleted at once, so that
// the pod can start if its source adds it again.
func (l *Loop) remove(c *api.Change) {
	uid := c.Old.UID
	m, _ := l.pods.get(uid)
	_, waits := l.waiting[uid]
	_, arrives := l.pendingPreemptors[uid]
	l.pods.remove(uid)
	l.cfg.Statuses.SetEditIgnored(uid, reasonHasEnded, "", l.cfg.Now())
	delete(l.waiting, uid)
	delete(l.pendingPreemptors, uid)
	delete(l.rejections.unshown, uid)
	switch {
	case l.cfg.Workers.Has(uid):
	case waits, arrives:
		l.forgetOutcome(uid)
		l.cfg.Statuses.Delete(uid)
		return
	case m.rejected:
		l.forgetOutcome(uid)
		l.cfg.Statuses.DeleteEnded(uid)
		return
	}
	l.terminating[uid] = time.Time{}
	if l.cfg.Outcomes != nil {
		l.cfg.Outcomes.Forget(uid)
	}
	l.request(worker.Kill, member{pod: c.Old, origin: c.Origin})
}

// forgetOutcome deletes the stored outcome of a pod that has no worker.
func (l *Loop) forgetOutcome(uid types.UID) {
	if l.cfg.Outcomes != nil {
		l.cfg.Outcomes.Forget(uid)
	}
}

// reasonHasEnded is the reason of the condition and event for an edit that has no effect because
// the pod has ended.
const reasonHasEnded = "HasEnded"

// reportEdit shows in the status of a static pod that has ended what has changed in its document
// since: the pod does not run again. m is the newer version of before. If the edit is reverted, it
// is no longer shown.
func (l *Loop) reportEdit(before, m member) {
	if before.pod == nil || !pod.IsStatic(m.pod) || m.rejected || m.recreated || !l.ended(before.pod) {
		return
	}
	if m.ended == nil {
		m.ended = before.pod
		l.pods.put(m)
	}
	if pod.SameInstance(before.pod, m.pod) {
		return
	}
	path := rerunDifference(m.ended, m.pod)
	if path == "" {
		l.cfg.Statuses.SetEditIgnored(m.pod.UID, reasonHasEnded, "", l.cfg.Now())
		return
	}
	message := l.reportIgnoredEdit(m.pod, path)
	l.cfg.Events.Event(m.pod, v1.EventTypeWarning, reasonHasEnded, message)
}

// reportIgnoredEdit shows that a pod which has ended was edited, and returns the message.
func (l *Loop) reportIgnoredEdit(p *v1.Pod, path string) string {
	message := path + " has changed, but the pod has ended: to run it again, take its manifest away and put it back, or give it another UID"
	l.cfg.Statuses.SetEditIgnored(p.UID, reasonHasEnded, message, l.cfg.Now())
	return message
}

// rerunDifference returns the first field that would make a run of after differ from a run of
// before, "" for none.
func rerunDifference(before, after *v1.Pod) string {
	if path := pod.Remade(before, after); path != "" {
		return path
	}
	for i := range min(len(before.Spec.InitContainers), len(after.Spec.InitContainers)) {
		if before.Spec.InitContainers[i].Image != after.Spec.InitContainers[i].Image {
			return "spec.initContainers[" + strconv.Itoa(i) + "].image"
		}
	}
	for i := range min(len(before.Spec.Containers), len(after.Spec.Containers)) {
		if before.Spec.Containers[i].Image != after.Spec.Containers[i].Image {
			return "spec.containers[" + strconv.Itoa(i) + "].image"
		}
	}
	if before.Spec.RestartPolicy != after.Spec.RestartPolicy {
		return "spec.restartPolicy"
	}
	return ""
}
