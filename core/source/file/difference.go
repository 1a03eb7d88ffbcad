package file

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// difference is what the sink must be given so that it has the file's
// documents, and counts it as given.
func (f *file) difference() (changed []pod.Document, gone []string) {
	if f.sent == nil {
		f.sent, f.identities = map[string]string{}, map[string]types.NamespacedName{}
	}
	now := make(map[string]bool, len(f.docs))
	for _, d := range f.docs {
		now[d.ID] = true
		mark := d.Version
		if d.Err != nil {
			mark = d.Err.Error()
		} else {
			f.identities[d.ID] = pod.Identity(d.Pod)
		}
		if was, ok := f.sent[d.ID]; !ok || was != mark {
			f.sent[d.ID] = mark
			changed = append(changed, d)
		}
	}
	// A whole-file fault stays in force beside every document that goes out.
	if last := len(f.docs) - 1; len(changed) > 0 && held(f.docs) && changed[len(changed)-1].ID != f.docs[last].ID {
		changed = append(changed, f.docs[last])
	}
	for _, id := range slices.Sorted(maps.Keys(f.sent)) {
		if !now[id] && !f.keeps(id) {
			delete(f.sent, id)
			delete(f.identities, id)
			gone = append(gone, id)
		}
	}
	return changed, gone
}

// keeps reports whether an ID that the file no longer has must not be
// forgotten: the file is held, or a bad document was the list it is an item
// of.
func (f *file) keeps(id string) bool {
	if held(f.docs) {
		return true
	}
	list, _, item := strings.Cut(id[strings.LastIndexByte(id, '#'):], ".")
	if !item {
		return false
	}
	for _, d := range f.docs {
		if d.Err != nil && strings.HasSuffix(d.ID, list) {
			return true
		}
	}
	return false
}
