package syncloop

import (
	"cmp"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// add adds new pods, oldest first, after those that wait already. Pods of the node's own sources
// have no age and come first, in the order in which they were seen. A pod that an earlier agent has
// started comes before all others because it uses the node. Each pod is in the set before anything
// is decided about it.
func (l *Loop) add(changes []api.Change) {
	defer l.finishBatch()
	l.judgeWaiting()
	byAge := slices.Clone(changes)
	slices.SortStableFunc(byAge, func(a, b api.Change) int {
		return cmp.Or(a.New.CreationTimestamp.Compare(b.New.CreationTimestamp.Time), a.Origin.FirstSeen.Compare(b.Origin.FirstSeen))
	})
	begun := l.begun(byAge)
	for _, first := range []bool{true, false} {
		for i := range byAge {
			if c := &byAge[i]; begun[c.New.UID] == first {
				l.admitNew(c, first)
			}
		}
	}
}

// admitNew judges one new pod.
func (l *Loop) admitNew(c *api.Change, begun bool) {
	l.nodeUsers() // list the users before m is added
	m := l.pods.add(c)
	if l.wasPreempted(m) {
		l.trackOutcome(m)
		return
	}
	if l.awaitsTermination(m) {
		return
	}
	result := l.judge(m, begun)
	if c.Op == api.Restore && begun && refused(m.verdict) {
		l.endRefused(m) // an earlier agent was about to evict it
		return
	}
	if !result.Admitted {
		// The rejection of a restored pod was reported when it happened.
		l.reject(m, result, c.Op != api.Restore || !refused(c.Verdict))
		return
	}
	said := c.Verdict
	if c.Op == api.Add {
		said = nil
	}
	l.admit(m, result, said, begun)
}

// admit makes a pod start once the pods that it preempts have terminated. said is a verdict whose
// warnings are events already, nil for none.
func (l *Loop) admit(m member, result admission.Result, said *api.Verdict, begun bool) {
	l.warn(m, said)
	l.addUser(m)
	if result.Preemption != nil {
		l.makeRoom(m, result.Preemption)
		return
	}
	l.queueStart(m, begun)
}

// begun returns the pods that an earlier agent has started: those that run and have no worker, and
// the restored pods that have something on the node.
func (l *Loop) begun(changes []api.Change) map[types.UID]bool {
	begun := map[types.UID]bool{}
	for _, s := range l.cfg.Workers.Orphans() {
		begun[s.UID] = true
	}
	for i := range changes {
		c := &changes[i]
		if l.cfg.Begun != nil && c.Op == api.Restore && l.cfg.Begun(c.New.UID) {
			begun[c.New.UID] = true
		}
	}
	return begun
}

// ended reports whether the pod's phase is terminal, either in its source or in the agent's status.
func (l *Loop) ended(p *v1.Pod) bool {
	st, _ := l.cfg.Statuses.Get(p.UID)
	return pod.IsTerminal(p.Status.Phase) || pod.IsTerminal(st.Phase)
}

// refused reports whether policy was asked and did not allow the pod.
func refused(v *api.Verdict) bool {
	return v != nil && v.Answer != api.Allow
}

// judge decides whether a new pod is admitted. A pod that has ended or that an earlier agent has
// started is not judged again, unless policy denied it.
func (l *Loop) judge(m member, begun bool) admission.Result {
	l.trackOutcome(m)
	past := begun || pod.IsTerminal(m.pod.Status.Phase) || l.cfg.Outcomes != nil && l.cfg.Outcomes.Ended(m.pod)
	if l.cfg.Admitter == nil || past && !refused(m.verdict) {
		return admission.Result{Admitted: true}
	}
	return l.cfg.Admitter.Admit(l.attributes(m))
}

// trackOutcome makes the outcome stored under a UID belong to this pod from now on. While an
// earlier pod of the UID is being terminated, the outcome belongs to that pod.
func (l *Loop) trackOutcome(m member) {
	if l.cfg.Outcomes != nil && !m.recreated {
		l.cfg.Outcomes.Track(m.pod, m.origin.FirstSeen, m.restored)
	}
}

// reject keeps a pod from starting. If news is true, it writes an event and calls the observer. The
// pod stays in the set and gets no worker. A pod that policy denies, and a pod of an API server, is
// shown as failed: another pod may be created in its place. A static pod that this node rejects
// waits, because no controller creates a replacement and no other pod may use what policy has
// reserved for it.
func (l *Loop) reject(m member, why admission.Result, news bool) {
	m.rejected = true
	l.pods.put(m)
	if news {
		l.cfg.Events.Event(m.pod, v1.EventTypeWarning, why.Reason, why.Message)
		if l.cfg.Observer != nil {
			l.cfg.Observer.Rejected(metricReason(m, why.Reason))
		}
	}
	if pod.IsStatic(m.pod) && !refused(m.verdict) {
		l.setPending(m, why.Reason, "Pod was rejected for now: "+why.Message)
		l.retryLater(m, why)
		return
	}
	st := v1.PodStatus{
		Phase: v1.PodFailed, Reason: why.Reason, Message: "Pod was rejected: " + why.Message, QOSClass: pod.QOS(m.pod),
		StartTime: new(metav1.NewTime(l.cfg.Now())), // like a kubelet: when the node noticed the pod
	}
	if l.cfg.Outcomes != nil && !refused(m.verdict) {
		l.showOnceDurable(m, &st)
		return
	}
	delete(l.rejections.unshown, m.pod.UID)
	l.setStatus(m, &st)
}

// metricReason returns the reason label of a rejection in the metrics. Plugins may choose any
// reason, even one that the node uses itself.
func metricReason(m member, reason string) string {
	switch reason {
	case api.ReasonPolicyDenied, api.ReasonPolicyFailed, api.ReasonDefaultVerdict:
		return reason
	}
	if refused(m.verdict) {
		return "Other"
	}
	return reason
}

// setPending shows why a pod has not started, or with an empty reason that it starts.
func (l *Loop) setPending(m member, reason, message string) {
	l.setStatus(m, &v1.PodStatus{Phase: v1.PodPending, Reason: reason, Message: message, QOSClass: pod.QOS(m.pod)})
}

// setStatus stores the status of a pod that has no worker.
func (l *Loop) setStatus(m member, st *v1.PodStatus) {
	if _, err := l.cfg.Statuses.Set(m.pod, *st); err != nil {
		l.cfg.Log.Error("status not stored", "pod", m.pod.Namespace+"/"+m.pod.Name, "uid", m.pod.UID, "err", err)
	}
}

// warn shows the policy warnings about an admitted pod and the changes that policies made to it. It
// writes an event for each warning that the verdict before did not have, and for changes that
// differ from those of that verdict.
func (l *Loop) warn(m member, before *api.Verdict) {
	warnings, known := warningsOf(m.verdict), warningsOf(before)
	since := time.Time{}
	if m.verdict != nil {
		since = m.verdict.At
	}
	l.cfg.Statuses.SetPolicyWarning(m.pod.UID, reasonPolicyWarning, strings.Join(warnings, "; "), since)
	for _, warning := range warnings {
		if !slices.Contains(known, warning) {
			l.cfg.Events.Event(m.pod, v1.EventTypeWarning, reasonPolicyWarning, warning)
		}
	}
	changed := changesOf(m.verdict)
	l.cfg.Statuses.SetMutated(m.pod.UID, reasonPolicyMutated, changed, since)
	if changed != "" && changed != changesOf(before) {
		l.cfg.Events.Event(m.pod, v1.EventTypeNormal, reasonPolicyMutated, changed)
	}
}

// changesOf returns the changes that policies made to a pod, empty for none.
func changesOf(v *api.Verdict) string {
	if v == nil {
		return ""
	}
	return v.Mutation.String()
}

func warningsOf(v *api.Verdict) []string {
	if v == nil {
		return nil
	}
	return v.Warnings()
}

// Reasons of the conditions and events that warn sets.
const (
	reasonPolicyWarning = "PolicyWarning"
	reasonPolicyMutated = "PolicyMutated"
)
