package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/wardlet/wardlet/core/api"
)

// subject is a manifest with both answers.
type subject struct {
	text []byte
	at   place
	// theirs are the kubelet's pods, err is the error if it refuses the manifest.
	theirs []*v1.Pod
	err    error
	// ours are Wardlet's pods, faults are the errors of the documents that it refuses.
	ours   []*v1.Pod
	faults []*api.DocumentError
}

func answers(text []byte, at place) *subject {
	s := subject{text: text, at: at}
	s.theirs, s.err = kubelet(text, at)
	s.ours, s.faults = wardlet(text, at)
	return &s
}

// maxRounds is how often a difference may be removed from a manifest.
const maxRounds = 40

// compare compares the two answers to a manifest. A difference that no line of docs/differences.md
// explains is an error. An explained difference is removed and the rest compared again, so that no
// difference hides another.
func (u *uses) compare(s *subject, round int) error {
	if round > maxRounds {
		return fmt.Errorf("still different after %d rounds; at last of\n%s", maxRounds, excerpt(s.text))
	}
	if parts := documents(s.text); len(parts) > 1 {
		return u.compareStream(s, parts, round)
	}
	if done, err := u.compareList(s, round); done {
		return err
	}
	switch {
	case s.err == nil && len(s.faults) == 0:
		u.accepted.Add(1)
		return u.comparePods(s)
	case s.err == nil:
		return u.explainRefusal(s, round)
	case len(s.faults) == 0:
		return u.explainAcceptance(s)
	case len(s.ours) > 0:
		return fmt.Errorf("a kubelet says %w, Wardlet takes %d pods and says %w", s.err, len(s.ours), s.faults[0])
	default:
		u.countRefusals(s)
		return nil
	}
}

// compareStream compares several YAML documents. A kubelet must make the same pods of the stream as
// of its first document, Wardlet the same pods as of all documents.
func (u *uses) compareStream(s *subject, parts [][]byte, round int) error {
	var each []*subject
	var ours []*v1.Pod
	faults := 0
	for _, part := range parts {
		one := answers(part, s.at)
		each, ours, faults = append(each, one), append(ours, one.ours...), faults+len(one.faults)
	}
	first := each[0]
	// If a text begins like JSON, a kubelet reads it as a whole. Its YAML parser reads ahead:
	// characters that it rejects make it refuse the first document, too.
	whole := bytes.HasPrefix(bytes.TrimSpace(s.text), []byte("{")) || s.err != nil && strings.Contains(s.err.Error(), "control characters") ||
		!utf8.Valid(s.text)
	if (s.err == nil) != (first.err == nil) && (!whole || s.err == nil) {
		return fmt.Errorf("by a kubelet all is %s, the first document %s: %w", verdictOf(s.err), verdictOf(first.err), errors.Join(s.err, first.err))
	}
	if s.err == nil && !cmp.Equal(s.theirs, first.theirs, exactly) {
		return fmt.Errorf("a kubelet makes another pod of all than of the first document: %s", cmp.Diff(s.theirs, first.theirs, exactly))
	}
	if !cmp.Equal(s.ours, ours, exactly) || len(s.faults) != faults {
		return fmt.Errorf("of all: %d pods, %d faults; of each: %d pods, %d faults: %s",
			len(s.ours), len(s.faults), len(ours), faults, cmp.Diff(s.ours, ours, exactly))
	}
	if len(s.theirs) != len(s.ours) || (s.err == nil) != (faults == 0) || whole {
		u.count("multi-document")
	}
	for _, one := range each {
		if err := u.compare(one, round+1); err != nil {
			return err
		}
	}
	return nil
}

// compareList handles lists that a kubelet refuses as a whole. done is false if the kubelet accepts
// the list, or if the document is not a list.
func (u *uses) compareList(s *subject, round int) (done bool, err error) {
	if s.err == nil || len(s.ours) == 0 && len(s.faults) > 0 {
		return false, nil
	}
	doc := listOf(s.text)
	switch {
	case (doc["kind"] == "List" || doc["kind"] == "PodList") && flowYAML(s):
		u.count("flow-yaml")
		return true, u.compare(answers(render(doc, false), s.at), round+1)
	case doc["kind"] == "List":
		u.count("list-kind")
		doc["kind"] = "PodList"
		return true, u.compare(answers(render(doc, false), aURL), round+1)
	case doc["kind"] == "PodList" && s.at.kind == api.KindFile:
		u.count("list-in-file")
		return true, u.compare(answers(render(doc, false), aURL), round+1)
	case doc["kind"] == "PodList" && len(s.faults) > 0:
		u.count("bad-item")
		items, _ := doc["items"].([]any)
		refused := 0
		for _, item := range items {
			one := answers(render(map[string]any{"apiVersion": "v1", "kind": "PodList", "items": []any{item}}, false), aURL)
			if one.err != nil {
				refused++
			}
			if err := u.compare(one, round+1); err != nil {
				return true, err
			}
		}
		if refused == 0 {
			return true, fmt.Errorf("a kubelet takes every item but not the list: %w", s.err)
		}
		return true, nil
	}
	return false, nil
}

// listOf parses a list of the API; it returns nil if the text is not one.
func listOf(text []byte) map[string]any {
	doc, err := treeOf(text)
	if err != nil || doc["apiVersion"] != "v1" {
		return nil
	}
	return doc
}

// exactly compares pods field by field. Quantities must have the same value and the same spelling.
var exactly = cmp.Comparer(func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 && a.String() == b.String() })

func (u *uses) comparePods(s *subject) error {
	if len(s.theirs) != len(s.ours) {
		return fmt.Errorf("a kubelet makes %d pods, Wardlet %d", len(s.theirs), len(s.ours))
	}
	for i := range s.theirs {
		k, w := s.theirs[i].DeepCopy(), s.ours[i].DeepCopy()
		for _, d := range differences {
			if d.pods != nil && d.pods(s, k, w) {
				u.count(d.id)
			}
		}
		if diff := cmp.Diff(k, w, exactly); diff != "" {
			return fmt.Errorf("pod %d differs (-kubelet +wardlet):\n%s", i, diff)
		}
	}
	return nil
}

var nextFault = regexp.MustCompile(`; line \d+: `)

// faultsOf returns the single faults that a refusal lists.
func faultsOf(e *api.DocumentError) []string {
	return nextFault.Split(strings.TrimSuffix(e.Err.Error(), "; and more"), -1)
}

// explainRefusal handles a manifest that a kubelet accepts and Wardlet refuses. A listed difference
// must explain each fault. It removes the faults and compares the manifest again.
func (u *uses) explainRefusal(s *subject, round int) error {
	doc, err := treeOf(s.text)
	if err != nil {
		return fmt.Errorf("a kubelet takes what is neither YAML nor JSON: %w", err)
	}
	for _, refusal := range s.faults {
		for _, fault := range faultsOf(refusal) {
			d, path := explain(s, fault)
			if d == nil {
				return fmt.Errorf("a kubelet takes it, Wardlet says: %s", fault)
			}
			u.count(d.id)
			if d.mend != nil {
				d.mend(doc)
			}
			for _, at := range placesOf(doc, path) {
				at.remove()
			}
		}
	}
	after := render(doc, false)
	if bytes.Equal(after, s.text) {
		return fmt.Errorf("cannot take out what is at fault: %w", s.faults[0])
	}
	return u.compare(answers(after, s.at), round+1)
}

// explain returns the difference that explains a fault, and the path of the field at fault; the
// path is empty if the fault is in the form of the text.
func explain(s *subject, fault string) (*difference, string) {
	for i := range differences {
		d := &differences[i]
		if d.fault == nil {
			continue
		}
		if m := d.fault.FindStringSubmatch(fault); m != nil && (d.check == nil || d.check(s, m)) {
			path := ""
			if len(m) > 1 {
				path = m[1]
			}
			return d, path
		}
	}
	return nil, ""
}

// explainAcceptance handles a manifest that Wardlet accepts and a kubelet refuses.
func (u *uses) explainAcceptance(s *subject) error {
	for i := range differences {
		d := &differences[i]
		if d.accepts != nil && d.accepts(s) {
			u.count(d.id)
			return nil
		}
	}
	return fmt.Errorf("Wardlet takes it, a kubelet says: %w", s.err)
}

var fieldPath = regexp.MustCompile(`\b(?:metadata|spec|status)(?:\.[A-Za-z]+|\[[^\]\s]+\])*`)

// countRefusals counts how often two refusals name a field in common.
func (u *uses) countRefusals(s *subject) {
	u.refused.Add(1)
	theirs := fieldPath.FindAllString(s.err.Error(), -1)
	var told []error
	for _, f := range s.faults {
		told = append(told, f)
	}
	ours := fieldPath.FindAllString(errors.Join(told...).Error(), -1)
	if len(theirs) == 0 || len(ours) == 0 {
		return
	}
	u.named.Add(1)
	for _, a := range theirs {
		for _, b := range ours {
			if strings.HasPrefix(a, b) || strings.HasPrefix(b, a) {
				u.sameField.Add(1)
				return
			}
		}
	}
}

func excerpt(text []byte) string {
	if len(text) > 4000 {
		return fmt.Sprintf("%s… (%d bytes)", text[:4000], len(text))
	}
	return string(text)
}
