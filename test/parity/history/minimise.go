package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wardlet/wardlet/core/pod"
)

// minimise removes deliveries and documents from a history as long as the rest still fails.
func minimise(h *history, fails func(*history) bool) *history {
	for again := true; again; {
		again = false
		for i := range slices.Backward(h.steps) {
			shorter := &history{seed: h.seed, steps: slices.Delete(slices.Clone(h.steps), i, i+1)}
			if fails(shorter) {
				h, again = shorter, true
			}
		}
		for _, id := range h.ids() {
			if fewer := h.without(id); fails(fewer) {
				h, again = fewer, true
			}
		}
	}
	return h
}

type documentID struct{ source, id string }

func (h *history) ids() (ids []documentID) {
	for _, s := range h.steps {
		for _, d := range s.documents {
			if id := (documentID{s.source, d.id}); !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// without returns the history without one document.
func (h *history) without(id documentID) *history {
	out := &history{seed: h.seed, steps: slices.Clone(h.steps)}
	for i := range out.steps {
		if s := &out.steps[i]; s.source == id.source {
			s.documents = slices.DeleteFunc(slices.Clone(s.documents), func(d document) bool { return d.id == id.id })
		}
	}
	return out
}

// String describes the history for a reader: the content of each delivery, and how the documents
// differ from their last version.
func (h *history) String() string {
	var text strings.Builder
	last := map[documentID]document{}
	for i, s := range h.steps {
		fmt.Fprintf(&text, "%3d. %s", i+1, s.source)
		if s.restart {
			text.WriteString(", after a restart")
		}
		if s.difference {
			text.WriteString(", as a difference")
		}
		text.WriteString(":\n")
		for _, d := range s.documents {
			id := documentID{s.source, d.id}
			fmt.Fprintf(&text, "     %s version %s: %s\n", d.id, d.version, d.since(last[id]))
			if d.raw != nil {
				last[id] = d
			}
		}
	}
	return text.String()
}

// since describes how a document differs from its last version.
func (d *document) since(last document) string {
	if d.raw == nil {
		return "unreadable"
	}
	text := fmt.Sprintf("%s/%s %s", d.raw.Namespace, d.raw.Name, d.raw.UID)
	if identity := d.raw.Annotations[pod.AnnotationIdentity]; identity != "" {
		text += " as " + identity
	}
	if pod.IsMirror(d.raw) {
		text += ", a mirror"
	}
	if last.raw != nil {
		text += changed(pod.Diff(last.raw, d.raw))
	}
	return text
}

func changed(fields pod.Fields) string {
	var text strings.Builder
	for _, f := range []struct {
		field pod.Fields
		name  string
	}{
		{pod.FieldSpec, "spec"},
		{pod.FieldLabels, "labels"},
		{pod.FieldAnnotations, "annotations"},
		{pod.FieldDeletionTimestamp, "deletion"},
		{pod.FieldDeletionGracePeriod, "grace"},
		{pod.FieldStatus, "status"},
	} {
		if fields.Has(f.field) {
			text.WriteString(", new " + f.name)
		}
	}
	return text.String()
}
