package syncloop

import (
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/pod"
)

// refused reports whether policy was asked and did not say yes.
func refused(v *pod.Verdict) bool { return v != nil && v.Answer != pod.Allow }

// judge says whether a new pod is admitted. One that has ended, is ending or
// runs already, left by an earlier agent, is past that; only what policy
// refused is refused nevertheless.
func (l *Loop) judge(m member, runs bool) admission.Result {
	past := runs || pod.IsTerminal(m.pod.Status.Phase) || l.cfg.Workers.TerminationRequested(m.pod.UID)
	if l.cfg.Admitter == nil || past && !refused(m.verdict) {
		return admission.Result{Admitted: true}
	}
	return l.cfg.Admitter.Admit(&admission.Attributes{Pod: m.pod, Verdict: m.verdict, Others: l.others(m.pod.UID)})
}

// reject shows a pod as failed, with an event where that is news. It stays in
// the set and gets no worker.
func (l *Loop) reject(m member, why admission.Result, news bool) {
	m.rejected = true
	l.pods.put(m)
	if news {
		l.cfg.Events.Event(m.pod, v1.EventTypeWarning, why.Reason, why.Message)
	}
	if _, err := l.cfg.Statuses.Set(m.pod, v1.PodStatus{
		Phase: v1.PodFailed, Reason: why.Reason, Message: "Pod was rejected: " + why.Message,
		QOSClass: pod.QOS(m.pod),
	}); err != nil {
		l.cfg.Log.Error("status not stored", "pod", m.pod.Namespace+"/"+m.pod.Name, "uid", m.pod.UID, "err", err)
	}
}

// warn shows what policy has to say to a pod that it lets through, and what it
// has changed of it, with an event for each warning that the verdict before had
// not, and for other changes.
func (l *Loop) warn(m member, before *pod.Verdict) {
	warnings, known := warningsOf(m.verdict), warningsOf(before)
	since := time.Time{}
	if m.verdict != nil {
		since = m.verdict.At
	}
	l.cfg.Statuses.Warn(m.pod.UID, reasonPolicyWarning, strings.Join(warnings, "; "), since)
	for _, warning := range warnings {
		if !slices.Contains(known, warning) {
			l.cfg.Events.Event(m.pod, v1.EventTypeWarning, reasonPolicyWarning, warning)
		}
	}
	changed := changesOf(m.verdict)
	l.cfg.Statuses.Changed(m.pod.UID, reasonPolicyMutated, changed, since)
	if changed != "" && changed != changesOf(before) {
		l.cfg.Events.Event(m.pod, v1.EventTypeNormal, reasonPolicyMutated, changed)
	}
}

// changesOf says what policies have changed of a pod, empty for nothing.
func changesOf(v *pod.Verdict) string {
	if v == nil {
		return ""
	}
	return v.Mutation.String()
}

func warningsOf(v *pod.Verdict) []string {
	if v == nil {
		return nil
	}
	return v.Warnings()
}

// Reasons of the conditions and events that warn makes.
const (
	reasonPolicyWarning = "PolicyWarning"
	reasonPolicyMutated = "PolicyMutated"
)
