package file

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// given identifies a document that was delivered to the sink.
type given struct {
	id, version, fault string
	claims             types.NamespacedName
}

// difference reports whether the documents of the file differ from those that were delivered last,
// and records them as delivered. A file's documents are delivered all or none, because their
// positions depend on the whole manifest.
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

// held reports whether the last document holds the whole file.
func held(docs []api.Document) bool {
	return len(docs) > 0 && docs[len(docs)-1].Holds()
}
