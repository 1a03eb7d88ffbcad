package server

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// tell adds the moments of the story.
func (t *timeline) tell() {
	t.tellSources()
	t.tellConflicts()
	for i := range t.story.Decisions {
		t.tellDecision(&t.story.Decisions[i])
	}
	t.tellStored()
	t.tellWaiting()
	t.tellEvents()
	for i := range t.pods {
		t.tellStatus(&t.pods[i])
	}
	switch {
	case len(t.pods)+len(t.waiting) > 0:
	case t.refused:
		t.stands(api.Entry{Part: api.PartStatus, Text: "the document that names such a pod cannot be used, and nothing of it runs"})
	default:
		t.stands(api.Entry{Part: api.PartStatus, Text: "no source of this node wants such a pod, and nothing of it runs"})
	}
	t.tellStart()
	slices.SortStableFunc(t.story.Moments, func(a, b api.Entry) int { return a.At.Compare(b.At) })
	if t.story.Moments == nil {
		t.story.Moments = []api.Entry{}
	}
	if t.story.Now == nil {
		t.story.Now = []api.Entry{}
	}
}

func (t *timeline) happened(m api.Entry) { t.story.Moments = append(t.story.Moments, m) }

func (t *timeline) stands(m api.Entry) { t.story.Now = append(t.story.Now, m) }

// tellSources adds the documents of the pods, and the problems with these documents.
func (t *timeline) tellSources() {
	for i := range t.pods {
		p := &t.pods[i]
		o, ok := t.origins[p.UID]
		if !ok {
			continue
		}
		t.happened(api.Entry{
			At: t.knownSince(p.UID, o.FirstSeen), Part: api.PartSource, Text: fmt.Sprintf("%s of source %s has pod %s (UID %s)", placeOf(o.Document), o.Source, p.Name, p.UID),
			Details: given("version", o.Version),
		})
	}
	for i := range t.waiting {
		w := &t.waiting[i]
		if w.Running != nil && w.Running.UID != w.Pod.UID {
			t.happened(api.Entry{At: w.Origin.FirstSeen, Part: api.PartSource, Text: fmt.Sprintf(
				"%s of source %s has a new version, pod %s (UID %s), which would take the place of UID %s",
				placeOf(w.Origin.Document), w.Origin.Source, w.Pod.Name, w.Pod.UID, w.Running.UID)})
		}
	}
	for _, s := range t.o.Sources.Sources() {
		for _, problem := range s.Problems {
			if !t.concerns(s.Name, &problem) {
				continue
			}
			text := fmt.Sprintf("%s of source %s cannot be used: %s", placeOf(problem.Document), s.Name, problem.Text())
			if problem.Kept {
				text += "; its last valid version stays"
			}
			t.happened(api.Entry{At: problem.Since, Part: api.PartSource, Text: text})
		}
		if s.Err != "" && t.isSource(s.Name) {
			t.stands(api.Entry{Part: api.PartSource, Text: fmt.Sprintf("source %s cannot be read, what it said last stays: %s", s.Name, s.Err)})
		} else if !s.Seen && t.isSource(s.Name) {
			t.stands(api.Entry{Part: api.PartSource, Text: fmt.Sprintf("source %s has not been read since the agent started", s.Name)})
		}
	}
}

// knownSince returns the time since which a pod is known. A denied pod is recorded as new when
// other policies judge it, so the time of the first decision is used if it is earlier than since.
func (t *timeline) knownSince(uid types.UID, since time.Time) time.Time {
	for i := range t.story.Decisions {
		if d := &t.story.Decisions[i]; d.UID == uid && d.First.Before(since) {
			since = d.First
		}
	}
	return since
}

// concerns reports whether a problem is about a document of the pods, or about a document of the
// same manifest that does not name its pod.
func (t *timeline) concerns(source string, problem *api.Problem) bool {
	if t.documents[problem.Document] == source {
		return true
	}
	manifest, ok := api.ManifestOf(problem.Document)
	if problem.Name != "" || !ok {
		return false
	}
	for known, from := range t.documents {
		if other, in := api.ManifestOf(known); in && from == source && other == manifest {
			return true
		}
	}
	return false
}

func (t *timeline) isSource(name string) bool {
	for _, source := range t.documents {
		if source == name {
			return true
		}
	}
	return false
}

// tellConflicts adds the documents that claim the identity, and the winner.
func (t *timeline) tellConflicts() {
	became := map[api.ClaimState]string{
		api.ClaimRuns: "runs", api.ClaimWaits: "waits", api.ClaimGivesWay: "gives way", api.ClaimRefused: "is denied", api.ClaimLost: "does not run",
	}
	for i := range t.story.Conflicts {
		c := &t.story.Conflicts[i]
		m := api.Entry{At: c.Since, Part: api.PartConflict, Text: fmt.Sprintf("%d documents claim %s/%s; decided by %s", len(c.Claims), c.Namespace, c.Name, c.Rule)}
		if c.Message != "" {
			m.Text += ": " + c.Message
		}
		for j := range c.Claims {
			x := &c.Claims[j]
			m.Details = append(m.Details, said(fmt.Sprintf("%s of source %s %s", placeOf(x.Document), x.Source, became[x.State]), x.Message))
		}
		t.happened(m)
	}
}

// tellDecision adds the opinions of the policies, each with its inputs and cost.
func (t *timeline) tellDecision(d *api.Decision) {
	v := &d.Verdict
	text := string(v.Answer)
	if d.Op != "" {
		text = string(d.Op) + ": " + text
	}
	if v.Reason != "" {
		text += " (" + v.Reason + ")"
	}
	m := api.Entry{At: d.First, Part: d.Hook, Text: said(text, v.Message), Details: slices.Concat(given("requested:", d.Connection), reasons(d.Hook, v))}
	if d.Count > 1 {
		m.Text += fmt.Sprintf("; so %d times until %s", d.Count, d.Last.UTC().Format(time.RFC3339))
	}
	if d.NotKept != "" {
		m.Details = append(m.Details, "not on record: "+d.NotKept)
	}
	t.happened(m)
}

// reasons returns the opinion of each policy, and the changes to the pod.
func reasons(hook string, v *api.Verdict) (lines []string) {
	for i := range v.Opinions {
		lines = append(lines, opinion(hook, &v.Opinions[i])...)
	}
	if changed := v.Mutation.String(); changed != "" {
		lines = append(lines, changed)
	}
	return lines
}

// opinion returns the lines about one policy's opinion, with its own explanation below.
func opinion(hook string, o *api.Opinion) []string {
	who := "policy " + o.Policy
	if o.Tenant != "" {
		who += " of tenant " + o.Tenant
	}
	switch o.Mode {
	case "":
	case api.ModeMember:
		who += " (counts in its groups)"
	default:
		who += " (" + o.Mode + ", does not count)"
	}
	text := who + ": " + string(o.Answer)
	if o.Reason != "" {
		text += " (" + o.Reason + ")"
	}
	lines := []string{said(text, o.Message)}
	more := func(text string) { lines = append(lines, "  "+text) }
	switch o.Failure {
	case "":
	case api.FailureOfMember:
		more("a member of the group failed; its on_error decided")
	case api.ReasonReferencesUnknown:
		more("it was not asked")
	default:
		decided := "; on_error decided"
		if hook == api.HookConnect {
			decided = "; then connections are denied, but to root on the local socket"
		}
		more("it failed with " + o.Failure + decided)
	}
	if o.Reason == api.ReasonException && o.Fuel == 0 {
		return lines // the policy was not asked
	}
	read := "nothing"
	if len(o.Reads) > 0 {
		read = strings.Join(o.Reads, ", ")
	}
	more(fmt.Sprintf("read %s; fuel %d", read, o.Fuel))
	if o.Explanation != "" {
		more(o.Explanation)
	}
	for _, w := range o.Warnings {
		more("warns: " + w)
	}
	return lines
}

// tellWaiting adds what waits, what it waits for and until when.
func (t *timeline) tellWaiting() {
	for i := range t.waiting {
		w := &t.waiting[i]
		if w.Suppressed {
			continue // it is among the updates
		}
		text := "the pod is held"
		switch {
		case w.Running != nil && w.Verdict.Answer == "":
			text = "the new version waits, the old one runs on"
		case w.Verdict.Answer == "":
			text = "the pod waits"
		case w.Running != nil && w.Verdict.Answer == api.Deny:
			text = "the new version is denied, the old one runs on"
		case w.Running != nil:
			text = "the new version is held, the old one runs on"
		case w.Verdict.Answer == api.Deny:
			text = "the pod is denied"
		}
		t.stands(api.Entry{Part: api.PartWait, Text: said(text, w.Verdict.Message) + judgedAgain(w)})
	}
	for i := range t.story.Updates {
		u := &t.story.Updates[i]
		what := "the update"
		if u.Op == api.Add {
			what = "the new pod"
		}
		text := "a filter holds " + what + " back"
		if u.Wait == api.WaitAsked && u.Message != "" {
			text = what + " waits"
		} else if !u.Since.IsZero() {
			text += " since " + u.Since.UTC().Format(time.RFC3339)
		}
		text = said(text, cmp.Or(u.Message, u.Policy)) + askedAgain(u)
		if !u.Until.IsZero() {
			text += "; passes at " + u.Until.UTC().Format(time.RFC3339) + " in any case, or with wardlet release"
		}
		t.stands(api.Entry{Part: api.PartWait, Text: text})
	}
}

// judgedAgain describes when policy is asked again about a version, or that it is being asked.
func judgedAgain(w *api.Waiting) string {
	switch {
	case w.Asked != nil:
		return "; " + w.Asked.String()
	case w.RetryAt.IsZero():
		return "; judged again when the document or the policies change"
	}
	return "; judged again at " + w.RetryAt.UTC().Format(time.RFC3339)
}

// askedAgain describes when the filter is asked again about an update that it holds back.
func askedAgain(u *api.WaitingUpdate) string {
	switch {
	case u.Wait == api.WaitAsked && u.Message != "":
		return "" // the message says that the filter is being asked
	case u.Wait == api.WaitAsked:
		return "; it has not answered yet"
	case u.Again.IsZero():
		return "; the filter is asked again when the pod changes"
	case u.Again.Equal(u.Until):
		return "" // the update passes then
	}
	return "; the filter is asked again at " + u.Again.UTC().Format(time.RFC3339)
}

// tellEvents adds the agent's events about the pods.
func (t *timeline) tellEvents() {
	for i := range t.story.Events {
		e := &t.story.Events[i]
		m := api.Entry{At: e.First, Part: api.PartEvent, Text: said(e.Reason, e.Message)}
		if e.Type == v1.EventTypeWarning {
			m.Text = "warning " + m.Text
		}
		if e.Count > 1 {
			m.Text += fmt.Sprintf(" (%d times until %s)", e.Count, e.Last.UTC().Format(time.RFC3339))
		}
		t.happened(m)
	}
}

// placeOf returns the place of a document for people: the file's name alone if the document is the
// first in the file.
func placeOf(document string) string { return strings.TrimSuffix(document, "#0") }

// said joins a text and a message about it.
func said(text, message string) string {
	if message == "" {
		return text
	}
	return text + ": " + message
}

func given(what, value string) []string {
	if value == "" {
		return nil
	}
	return []string{what + " " + value}
}
