package server

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// tellStatus adds the actions of the runtime on a pod, and the pod's state.
func (t *timeline) tellStatus(p *v1.Pod) {
	st := &p.Status
	if st.StartTime != nil {
		t.happened(api.Entry{At: t.within(st.StartTime.Time), Part: api.PartRuntime, Text: fmt.Sprintf("pod %s was admitted by the node", p.Name)})
	}
	for c := range pod.Statuses(st) {
		t.tellContainer(c)
	}
	text := fmt.Sprintf("pod %s (UID %s): phase %s", p.Name, p.UID, orUnknown(string(st.Phase)))
	if st.Reason != "" {
		text += " (" + st.Reason + ")"
	}
	m := api.Entry{Part: api.PartStatus, Text: said(text, st.Message)}
	if p.DeletionTimestamp != nil {
		m.Details = append(m.Details, "it is being ended since "+p.DeletionTimestamp.UTC().Format("2006-01-02T15:04:05Z"))
	}
	for i := range st.Conditions {
		if c := &st.Conditions[i]; c.Status != v1.ConditionTrue || c.Reason != "" {
			m.Details = append(m.Details, conditionText(c))
		}
	}
	for c := range pod.Statuses(st) {
		m.Details = append(m.Details, containerText(c))
	}
	t.stands(m)
}

// within returns a time with whole seconds, moved behind the earlier moments of the same second: a
// pod is known and judged before the node admits it.
func (t *timeline) within(second time.Time) time.Time {
	at := second
	for i := range t.story.Moments {
		m := &t.story.Moments[i]
		if m.Part != api.PartEvent && m.Part != api.PartRuntime && m.At.After(at) && m.At.Before(second.Add(time.Second)) {
			at = m.At
		}
	}
	return at
}

// tellContainer adds the known starts and terminations of a container: the newest, and the one
// before.
func (t *timeline) tellContainer(c *v1.ContainerStatus) {
	for _, state := range []*v1.ContainerState{&c.LastTerminationState, &c.State} {
		if r := state.Running; r != nil && !r.StartedAt.IsZero() {
			t.happened(api.Entry{At: r.StartedAt.Time, Part: api.PartRuntime, Text: fmt.Sprintf("container %s started", c.Name)})
		}
		if e := state.Terminated; e != nil {
			if !e.StartedAt.IsZero() {
				t.happened(api.Entry{At: e.StartedAt.Time, Part: api.PartRuntime, Text: fmt.Sprintf("container %s started", c.Name)})
			}
			t.happened(api.Entry{At: e.FinishedAt.Time, Part: api.PartRuntime, Text: said(fmt.Sprintf("container %s ended with %s", c.Name, endText(e)), e.Message)})
		}
	}
}

func endText(e *v1.ContainerStateTerminated) string {
	text := fmt.Sprintf("exit code %d", e.ExitCode)
	if e.Signal != 0 {
		text = fmt.Sprintf("signal %d", e.Signal)
	}
	if e.Reason != "" {
		text += " (" + e.Reason + ")"
	}
	return text
}

func conditionText(c *v1.PodCondition) string {
	text := fmt.Sprintf("condition %s is %s", c.Type, c.Status)
	if c.Reason != "" {
		text += " (" + c.Reason + ")"
	}
	return said(text, c.Message)
}

func containerText(c *v1.ContainerStatus) string {
	text := fmt.Sprintf("container %s: ", c.Name)
	switch {
	case c.State.Running != nil && c.Ready:
		text += "runs and is ready"
	case c.State.Running != nil:
		text += "runs and is not ready"
	case c.State.Terminated != nil:
		text += "has ended with " + endText(c.State.Terminated)
	case c.State.Waiting != nil:
		text += said("waits", c.State.Waiting.Reason)
		text = said(text, c.State.Waiting.Message)
	default:
		text += "nothing is known"
	}
	return text + fmt.Sprintf("; %d restarts", c.RestartCount)
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// tellStored adds a pod's stored verdict if the decision is no longer shown: a verdict is stored
// for as long as the pod runs.
func (t *timeline) tellStored() {
	if t.o.Verdicts == nil {
		return
	}
	stored := t.o.Verdicts()
	for i := range t.pods {
		v := stored[t.pods[i].UID]
		if v == nil || t.tells(v, &t.pods[i]) {
			continue
		}
		text := string(v.Answer)
		if v.Reason != "" {
			text += " (" + v.Reason + ")"
		}
		t.happened(api.Entry{
			At: v.At, Part: api.PartAdmit, Text: said(text, v.Message),
			Details: append(reasons(api.HookAdmit, v), "as it is stored with the pod; the decision itself is not shown any more"),
		})
	}
}

// tells reports whether the timeline has the decision with this verdict.
func (t *timeline) tells(v *api.Verdict, p *v1.Pod) bool {
	return slices.ContainsFunc(t.story.Decisions, func(d api.Decision) bool {
		return d.Hook == api.PartAdmit && d.UID == p.UID && d.Verdict.Answer == v.Answer && !v.At.Before(d.First) && !v.At.After(d.Last)
	})
}

// tellStart marks the moments before the start of the agent.
func (t *timeline) tellStart() {
	started, before := t.o.Started, false
	for i := range t.story.Moments {
		m := &t.story.Moments[i]
		m.Before = !m.At.IsZero() && m.At.Before(started)
		before = before || m.Before
	}
	if before {
		t.story.Moments = slices.Insert(t.story.Moments, 0, api.Entry{
			At: started, Part: api.PartAgent,
			Text: "the agent started; what stands above is from before: what was decided and stored, and what the runtime shows, but no events",
		})
	}
}
