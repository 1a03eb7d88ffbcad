package file

import (
	"maps"
	"slices"

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
		}
		if identity := d.Identity(); identity.Name != "" {
			f.identities[d.ID] = identity
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
	if held(f.docs) {
		return changed, nil
	}
	for _, id := range slices.Sorted(maps.Keys(f.sent)) {
		if !now[id] {
			delete(f.sent, id)
			delete(f.identities, id)
			gone = append(gone, id)
		}
	}
	return changed, gone
}
