package server

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
)

// tellStored tells the verdicts that pods have where the decisions that are still
// shown do not: it is stored with a pod for as long as that runs.
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

// tells reports whether a verdict is that of a decision in the timeline.
func (t *timeline) tells(v *api.Verdict, p *v1.Pod) bool {
	return slices.ContainsFunc(t.story.Decisions, func(d api.Decision) bool {
		return d.Hook == api.PartAdmit && d.UID == p.UID && d.Verdict.Answer == v.Answer && !v.At.Before(d.First) && !v.At.After(d.Last)
	})
}

// tellStart marks what was before the agent started.
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
