package get

import (
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/describe"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/printable"
)

// podNotes returns notes about p: which versions of it wait and why, why it does not start, and
// which of its containers are not ready.
func podNotes(p *v1.Pod, waits []api.Waiting, events []api.Event, now time.Time) []note {
	var notes []note
	name := p.Namespace + "/" + p.Name + ": "
	for i := range waits {
		if w := &waits[i]; shows(p, w) && !isFresh(w, now) {
			notes = append(notes, waitNote(name, w, now))
		}
	}
	if why := hindrance(p); why != "" {
		notes = append(notes, lasting(name+why))
	}
	if c := api.Condition(&p.Status, api.ConditionEditIgnored); c != nil {
		notes = append(notes, lasting(name+printable.Joined(c.Message)))
	}
	if why := predecessor(p); why != "" {
		notes = append(notes, lasting(name+why))
	}
	for _, why := range describe.NotReady(p, events) {
		// The message of a failed probe may differ each time.
		stable, _, _ := strings.Cut(why, " probe failed: ")
		notes = append(notes, note{text: name + why, stable: name + stable})
	}
	return notes
}

// shows reports whether w belongs to the row of p: p is the running pod of w, or the waiting pod if
// none runs.
func shows(p *v1.Pod, w *api.Waiting) bool {
	if w.Running != nil {
		return p.UID == w.Running.UID
	}
	return w.Pod != nil && p.UID == w.Pod.UID
}

// isFresh reports whether w has no answer yet and may still get one soon.
func isFresh(w *api.Waiting, now time.Time) bool {
	unanswered := w.Verdict.Answer == "" || w.Verdict.Reason == api.ReasonNotAnswered
	return w.Asked != nil && unanswered && now.Sub(w.Asked.Since) < answerTime
}

// answerTime is the time for an answer that is too short for a note.
const answerTime = 2 * time.Second

// waitNote returns the note about w. It is stable until another version waits, or the reason
// changes.
func waitNote(name string, w *api.Waiting, now time.Time) note {
	if w.Suppressed {
		return suppressedNote(name, w, now)
	}
	state := "held"
	switch {
	case w.Verdict.Answer == "" && w.Asked != nil:
		return unjudgedNote(name, w)
	case w.Verdict.Answer == api.Deny:
		state = "denied"
	}
	why := w.Verdict.Message
	if why == "" {
		why = w.Verdict.Reason
	}
	text := name + state + ": " + printable.Joined(why)
	if w.Running != nil {
		text = name + "the new version in " + cli.FileOf(w.Origin.Document) + " is " + state + ", the old one runs on: " + printable.Joined(why)
	}
	after := again(w, now)
	if after != "" && w.Verdict.Reason == api.ReasonPolicyFailed {
		after += `; "` + retryCommand(w.Verdict.Tenant) + `" has it judged now`
	}
	return note{
		text:   text + after,
		stable: strings.Join([]string{text, w.Verdict.Reason, w.Origin.Document, w.Origin.Version}, "\x00"),
	}
}

// unjudgedNote returns the note about a version that policy has not answered yet.
func unjudgedNote(name string, w *api.Waiting) note {
	what := name
	if w.Running != nil {
		what += "the new version in " + cli.FileOf(w.Origin.Document) + " waits, the old one runs on: "
	}
	return note{
		text:   what + printable.Joined(w.Asked.String()),
		stable: strings.Join([]string{what, w.Asked.Hook, w.Origin.Document, w.Origin.Version}, "\x00"),
	}
}

// suppressedNote returns the note about a version that a filter holds back: until when and why, as
// in "get updates".
func suppressedNote(name string, w *api.Waiting, now time.Time) note {
	what, beside := "the new pod in ", ""
	if w.Running != nil {
		what, beside = "the update in ", ", the old one runs on"
	}
	what = name + what + cli.FileOf(w.Origin.Document) + " is suppressed"
	why := printable.Joined(w.Verdict.Reason)
	if message := strings.TrimRight(printable.Joined(w.Verdict.Message), ": "); message != "" {
		why += ": " + message
	}
	text := what
	if !w.Until.IsZero() {
		text += " until " + w.Until.UTC().Format(time.RFC3339) + " at the latest"
	}
	text += beside + ": " + why
	switch left := w.RetryAt.Sub(now); {
	case w.Asked != nil:
		text += "; " + printable.Joined(w.Asked.String())
	case w.RetryAt.IsZero() && w.Verdict.Reason == api.ReasonNotAnswered: // it is being asked
	case w.RetryAt.IsZero():
		text += "; the filter is asked again when it changes"
	case w.RetryAt.Equal(w.Until): // the text above has this time already
	case left < time.Second:
		text += "; the filter is asked again now"
	default:
		text += "; the filter is asked again in " + duration.HumanDuration(left)
	}
	return note{
		text:   text,
		stable: strings.Join([]string{what, beside, why, w.Origin.Document, w.Origin.Version}, "\x00"),
	}
}

// again describes when w is judged again. It is empty for a denied version, which is judged again
// when the document or a policy changes.
func again(w *api.Waiting, now time.Time) string {
	switch left := w.RetryAt.Sub(now); {
	case w.Asked != nil && now.Sub(w.Asked.Since) >= answerTime:
		return "; " + printable.Joined(w.Asked.String())
	case w.RetryAt.IsZero() && w.Verdict.Answer == api.Deny:
		return ""
	case w.RetryAt.IsZero():
		return "; judged again when the document or the policies change"
	case left < time.Second:
		return "; judged again now"
	default:
		return "; judged again in " + duration.HumanDuration(left)
	}
}

// predecessor names the pod that p waits for, "" if p waits for none.
func predecessor(p *v1.Pod) string {
	for c := range pod.Statuses(&p.Status) {
		if w := c.State.Waiting; w != nil && w.Reason == api.ReasonWaitingForPredecessor {
			return printable.Joined(w.Message)
		}
	}
	return ""
}

// rejectedPrefix begins the message of a pod that was never admitted, as in a kubelet.
// rejectedForNow begins the message of a pod whose admission is tried again. makingRoom begins the
// message of a pod that waits until other pods have terminated.
const (
	rejectedPrefix = "Pod was rejected: "
	rejectedForNow = "Pod was rejected for now: "
	makingRoom     = "Pod starts when these have ended: "
)

// helpsToLeave reports whether a pod that was rejected for a reason fits once other pods have left
// the node: the node lacks room or a free port.
func helpsToLeave(reason string) bool {
	return strings.HasPrefix(reason, "OutOf") || reason == "NodePorts"
}

// hindrance describes why p was not admitted, or which pods must terminate before it starts. It is
// "" for any other pod.
func hindrance(p *v1.Pod) string {
	if p.Status.Phase == v1.PodPending {
		if why, ok := strings.CutPrefix(p.Status.Message, rejectedForNow); ok {
			if !helpsToLeave(p.Status.Reason) {
				return "rejected: " + printable.Joined(why) + "; nothing that leaves the node changes that: change the pod, or what the node allows"
			}
			return "rejected for now: " + printable.Joined(why) + "; tried again when something else has left the node"
		}
		if who, ok := strings.CutPrefix(p.Status.Message, makingRoom); ok {
			return "starts when these have ended: " + printable.Joined(who)
		}
	}
	why, ok := strings.CutPrefix(p.Status.Message, rejectedPrefix)
	switch {
	case p.Status.Phase != v1.PodFailed || !ok:
		return ""
	case p.Status.Reason == api.ReasonPolicyFailed && pod.IsStatic(p):
		return "denied by " + printable.Joined(why) + `; "` + retryCommand(tenantOfPolicy(why)) + `" has it judged again`
	case strings.HasPrefix(why, `policy "`):
		return "denied by " + printable.Joined(why)
	case p.Status.Reason == api.ReasonDefaultVerdict:
		return "denied: " + printable.Joined(why)
	}
	return "rejected: " + printable.Joined(why)
}

// tenantOfPolicy returns the tenant of the policy that a verdict's message names first, empty for
// the operator's policy.
func tenantOfPolicy(message string) string {
	_, rest, _ := strings.Cut(strings.TrimPrefix(message, `policy "`), `"`)
	rest, of := strings.CutPrefix(rest, ` of tenant "`)
	if !of {
		return ""
	}
	tenant, _, _ := strings.Cut(rest, `"`)
	return tenant
}
