package syncloop

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/worker"
)

// What is said of pods that give way to a critical one, in a kubelet's words.
const (
	reasonPreempting  = "Preempting"
	messagePreempting = "Preempted in order to admit critical pod"
	messageDisruption = "Pod was preempted by Kubelet to accommodate a critical pod."
)

// expel ends a pod with its own grace period. One of which nothing has begun yet is
// rejected instead: a static one waits again.
func (l *Loop) expel(p *v1.Pod) {
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
		l.early[p.UID] = true
	case l.takeBack(p.UID):
		l.reject(m, admission.Result{Reason: reasonPreempting, Message: messagePreempting}, false)
		return
	}
	l.cfg.Workers.Update(worker.Request{
		Kind: worker.Kill, Pod: m.pod, Origin: m.origin, Kill: &worker.KillOptions{Evict: true, Status: disrupted(reasonPreempting, messagePreempting, messageDisruption)},
	})
}

// takeBack keeps an admitted pod from starting of which nothing is on the node, and
// reports whether it could.
func (l *Loop) takeBack(uid types.UID) bool {
	if _, arrives := l.arrivals[uid]; arrives {
		delete(l.arrivals, uid)
		return true
	}
	begun := l.cfg.Begun != nil && l.cfg.Begun(uid)
	if s, found := l.starting(uid); found {
		if begun = begun || s.begun; begun {
			l.hand(s.member)
		}
		return !begun
	}
	return !begun && l.cfg.Workers.Withdraw(uid)
}

// expelled reports whether a pod that comes had to give way before it came. Its worker
// ends it, and it is not to start again.
func (l *Loop) expelled(m member) bool {
	early := l.early[m.pod.UID]
	delete(l.early, m.pod.UID)
	return early && l.cfg.Workers.TerminationRequested(m.pod.UID)
}

// disrupted is how the status of a pod ends that others have end.
func disrupted(reason, message, disruption string) func(*v1.PodStatus) {
	return func(st *v1.PodStatus) {
		st.Phase, st.Reason, st.Message = v1.PodFailed, reason, message
		target(st, disruption)
	}
}

// target says with a pod's status that others have it end.
func target(st *v1.PodStatus, message string) {
	target := v1.PodCondition{
		Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonTerminationByKubelet, Message: message,
		ObservedGeneration: st.ObservedGeneration, LastTransitionTime: metav1.Now(),
	}
	i := slices.IndexFunc(st.Conditions, func(c v1.PodCondition) bool { return c.Type == target.Type })
	if i < 0 {
		st.Conditions = append(st.Conditions, target)
		return
	}
	if st.Conditions[i].Status == target.Status {
		target.LastTransitionTime = st.Conditions[i].LastTransitionTime
	}
	st.Conditions[i] = target
}
