package file

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// given is what the sink was told of a document.
type given struct {
	id, version, fault string
	claims             types.NamespacedName
}

// difference reports whether the sink has other documents of the file than were
// read, and counts these as given. They are handed over all or none: what stands
// where in a manifest only the whole of it says.
func (f *file) difference() bool {
	now := make([]given, len(f.docs))
	for i := range f.docs {
		d := &f.docs[i]
		now[i] = given{id: d.ID, version: d.Version, claims: d.Claims}
		if d.Err != nil {
			now[i].fault = d.Err.Error()
		}
	}
	if slices.Equal(now, f.given) && (f.told || len(now) == 0) {
		return false
	}
	f.told, f.given = true, now
	return true
}

// held reports whether a document stands for the whole file.
func held(docs []api.Document) bool {
	return len(docs) > 0 && docs[len(docs)-1].Holds()
}
