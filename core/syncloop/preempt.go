package syncloop

import (
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/core/worker"
)

// reasonMakingRoom is the reason in the status of an admitted pod that waits for preempted pods.
const reasonMakingRoom = "MakingRoom"

// minPreemptionWait is the minimum time that a pod waits for preempted pods to terminate.
const minPreemptionWait = 10 * time.Second

// pendingPreemptor is an admitted pod that starts when the pods in leaving have terminated, or at
// the deadline.
type pendingPreemptor struct {
	leaving  []types.UID
	deadline time.Time
}

// makeRoom preempts other pods for an admitted pod, which starts after them. The admitted pod uses
// the node from now on, so no other pod can use the freed room.
func (l *Loop) makeRoom(m member, room *admission.Preemption) {
	var a pendingPreemptor
	var names []string
	left := l.remainingGrace(l.cfg.Workers.TerminatingPods())
	wait := minPreemptionWait
	for _, p := range slices.Concat(room.Victims, room.Await) {
		a.leaving = append(a.leaving, p.UID)
		names = append(names, p.Namespace+"/"+p.Name)
		rest, ends := left[p.UID]
		if s := p.Spec.TerminationGracePeriodSeconds; !ends && s != nil {
			rest = seconds(*s)
		}
		wait = max(wait, rest+rest/2)
	}
	a.deadline = l.cfg.Now().Add(wait)
	l.pendingPreemptors[m.pod.UID] = a
	l.cfg.Log.Info("pods end for a critical one", "pod", m.pod.Namespace+"/"+m.pod.Name, "uid", m.pod.UID, "ending", names)
	l.setPending(m, reasonMakingRoom, "Pod starts when these have ended: "+strings.Join(names, ", "))
	l.invalidateUsers()
	for _, p := range room.Victims {
		l.preempt(p)
	}
	l.startPreemptors()
}

// seconds returns n seconds as a duration, limited to a century: a longer time, or one and a half
// times that, may overflow.
func seconds(n int64) time.Duration {
	const century = 100 * 365 * 24 * time.Hour
	return time.Duration(min(max(n, 0), int64(century/time.Second))) * time.Second
}

// startPreemptors starts the pods whose preempted pods have terminated.
func (l *Loop) startPreemptors() {
	for uid, a := range l.pendingPreemptors {
		leaves := func(uid types.UID) bool { return l.cfg.Workers.Has(uid) && !l.cfg.Workers.KnownTerminated(uid) }
		late := l.cfg.Now().After(a.deadline)
		if slices.ContainsFunc(a.leaving, leaves) && !late {
			continue
		}
		delete(l.pendingPreemptors, uid)
		m, known := l.pods.get(uid)
		if !known {
			continue
		}
		if late {
			l.cfg.Log.Warn("pod starts although not all preempted pods have ended", "pod", m.pod.Namespace+"/"+m.pod.Name, "uid", uid)
		}
		l.setPending(m, "", "")
		l.queueStart(m, false)
	}
}

// The event and status of a pod that is preempted for a critical one, in a kubelet's words.
const (
	reasonPreempting  = "Preempting"
	messagePreempting = "Preempted in order to admit critical pod"
	messageDisruption = "Pod was preempted by Kubelet to accommodate a critical pod."
)

// preempt terminates a pod with its own grace period. If the pod has not started yet, it is
// rejected instead; a static pod then waits again.
func (l *Loop) preempt(p *v1.Pod) {
	l.cfg.Events.Event(p, v1.EventTypeWarning, reasonPreempting, messagePreempting)
	m, known := l.pods.get(p.UID)
	switch {
	case !known:
		m = member{pod: p}
		for _, d := range l.cfg.Desired.Pods() {
			if d.Pod.UID == p.UID {
				m.origin = d.Origin
			}
		}
		l.preemptedEarly[p.UID] = true
	case l.cancelStart(p.UID):
		l.reject(m, admission.Result{Reason: reasonPreempting, Message: messagePreempting}, false)
		return
	}
	l.cfg.Workers.Submit(worker.Request{
		Kind: worker.Kill, Pod: m.pod, Origin: m.origin, Kill: &worker.KillOptions{Evict: true, Status: DisruptedStatus(reasonPreempting, messagePreempting, messageDisruption)},
	})
}

// cancelStart prevents an admitted pod from starting if nothing of it is on the node, and reports
// whether it prevented the start.
func (l *Loop) cancelStart(uid types.UID) bool {
	if _, arrives := l.pendingPreemptors[uid]; arrives {
		delete(l.pendingPreemptors, uid)
		return true
	}
	begun := l.cfg.Begun != nil && l.cfg.Begun(uid)
	if s, found := l.dequeueStart(uid); found {
		if begun = begun || s.begun; begun {
			l.startWorker(s.member)
		}
		return !begun
	}
	return !begun && l.cfg.Workers.CancelStart(uid)
}

// wasPreempted reports whether a new pod was preempted before the loop received it. Its worker
// terminates it, and it does not start again.
func (l *Loop) wasPreempted(m member) bool {
	early := l.preemptedEarly[m.pod.UID]
	delete(l.preemptedEarly, m.pod.UID)
	return early && l.cfg.Workers.TerminationRequested(m.pod.UID)
}

// DisruptedStatus returns a function that sets the final status of a preempted or evicted pod: the
// pod's reason and message, and the message of its DisruptionTarget condition.
func DisruptedStatus(reason, message, disruption string) func(*v1.PodStatus) {
	return func(st *v1.PodStatus) {
		st.Phase, st.Reason, st.Message = v1.PodFailed, reason, message
		status.SetDisruptionTarget(st, disruption)
	}
}

// messageEviction is the condition message of a pod that is terminated because policy no longer
// admits it.
const messageEviction = "Pod was evicted because a policy that has changed does not admit it any more."

// evict terminates a pod that was admitted and is no longer admitted, with its own grace period.
// From now on the pod counts as rejected. If the pod has not started, it is rejected at once.
func (l *Loop) evict(c *api.Change) {
	m, known := l.pods.get(c.New.UID)
	if !known || m.rejected && refused(m.verdict) {
		l.cfg.Log.Error("eviction of a pod that does not run ignored", "pod", c.New.Namespace+"/"+c.New.Name, "uid", c.New.UID, "source", c.Source)
		return
	}
	m.verdict = c.Verdict
	_, waits := l.waiting[m.pod.UID]
	delete(l.waiting, m.pod.UID)
	if m.recreated || waits || l.cancelStart(m.pod.UID) {
		m.recreated = false
		l.reject(m, admission.Result{Reason: c.Verdict.Reason, Message: c.Verdict.Message}, true)
		l.invalidateUsers()
		return
	}
	l.cfg.Events.Event(m.pod, v1.EventTypeWarning, c.Verdict.Reason, "Pod is evicted: "+c.Verdict.Message)
	l.endRefused(m)
	l.invalidateUsers()
}

// endRefused marks a pod that policy denies as rejected and requests its termination.
func (l *Loop) endRefused(m member) {
	m.rejected = true
	l.pods.put(m)
	l.cfg.Workers.Submit(worker.Request{
		Kind: worker.Kill, Pod: m.pod, Origin: m.origin,
		Kill: &worker.KillOptions{Evict: true, Status: DisruptedStatus(m.verdict.Reason, "Pod was evicted: "+m.verdict.Message, messageEviction)},
	})
}
