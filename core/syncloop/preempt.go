package syncloop

import (
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/worker"
)

// reasonMakingRoom is why an admitted pod has not begun to start.
const reasonMakingRoom = "MakingRoom"

// minRoomWait is how long a pod waits at least for others to end.
const minRoomWait = 10 * time.Second

// arrival is an admitted pod that starts when others have left, or at a time at
// which they should have.
type arrival struct {
	leaving []types.UID
	until   time.Time
}

// preempt has others end for an admitted pod, which starts after them. It uses the
// node from now on, so that nobody else takes the room.
func (l *Loop) preempt(m member, room *admission.Preemption) {
	var a arrival
	var names []string
	left := l.left(l.cfg.Workers.Ending())
	wait := minRoomWait
	for _, p := range slices.Concat(room.Victims, room.Await) {
		a.leaving = append(a.leaving, p.UID)
		names = append(names, p.Namespace+"/"+p.Name)
		rest, ends := left[p.UID]
		if s := p.Spec.TerminationGracePeriodSeconds; !ends && s != nil {
			rest = seconds(*s)
		}
		wait = max(wait, rest+rest/2)
	}
	a.until = l.cfg.Now().Add(wait)
	l.arrivals[m.pod.UID] = a
	l.cfg.Log.Info("pods end for a critical one", "pod", m.pod.Namespace+"/"+m.pod.Name, "uid", m.pod.UID, "ending", names)
	l.pending(m, reasonMakingRoom, "Pod starts when these have ended: "+strings.Join(names, ", "))
	l.lookAgain()
	for _, p := range room.Victims {
		l.expel(p)
	}
	l.arrive()
}

// seconds is a number of seconds, a century at most: more, or half of that on top, may
// be no duration.
func seconds(n int64) time.Duration {
	const century = 100 * 365 * 24 * time.Hour
	return time.Duration(min(max(n, 0), int64(century/time.Second))) * time.Second
}

// arrive starts the pods for which others have left.
func (l *Loop) arrive() {
	for uid, a := range l.arrivals {
		leaves := func(uid types.UID) bool { return l.cfg.Workers.Has(uid) && !l.cfg.Workers.KnownTerminated(uid) }
		late := l.cfg.Now().After(a.until)
		if slices.ContainsFunc(a.leaving, leaves) && !late {
			continue
		}
		delete(l.arrivals, uid)
		m, known := l.pods.get(uid)
		if !known {
			continue
		}
		if late {
			l.cfg.Log.Warn("pod starts although not all have ended that give way to it", "pod", m.pod.Namespace+"/"+m.pod.Name, "uid", uid)
		}
		l.pending(m, "", "")
		l.create(m, false)
	}
}

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

// messageEviction says why a pod ends that policy does not let run any more.
const messageEviction = "Pod was evicted because a policy that has changed does not admit it any more."

// evict ends a pod that was admitted and is not any more, with its own grace period.
// From now on it is one that was rejected. One of which nothing has begun is that at
// once.
func (l *Loop) evict(c *api.Change) {
	m, known := l.pods.get(c.New.UID)
	if !known || m.rejected && refused(m.verdict) {
		l.cfg.Log.Error("eviction of a pod that does not run ignored", "pod", c.New.Namespace+"/"+c.New.Name, "uid", c.New.UID, "source", c.Source)
		return
	}
	m.verdict = c.Verdict
	_, waits := l.waiting[m.pod.UID]
	delete(l.waiting, m.pod.UID)
	if m.returns || waits || l.takeBack(m.pod.UID) {
		m.returns = false
		l.reject(m, admission.Result{Reason: c.Verdict.Reason, Message: c.Verdict.Message}, true)
		l.lookAgain()
		return
	}
	l.cfg.Events.Event(m.pod, v1.EventTypeWarning, c.Verdict.Reason, "Pod is evicted: "+c.Verdict.Message)
	l.end(m)
	l.lookAgain()
}

// end has the worker of a pod end it that policy refuses.
func (l *Loop) end(m member) {
	m.rejected = true
	l.pods.put(m)
	l.cfg.Workers.Update(worker.Request{
		Kind: worker.Kill, Pod: m.pod, Origin: m.origin,
		Kill: &worker.KillOptions{Evict: true, Status: disrupted(m.verdict.Reason, "Pod was evicted: "+m.verdict.Message, messageEviction)},
	})
}
