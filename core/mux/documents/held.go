package documents

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// hold brings the entries of a manifest that is held to what is certain. A document of it
// may be in the place of another one, as all are that follow a separator that broke. So
// only those count that are the pod that was there, or are new where nothing was, or have
// come from another manifest. Entries stay without their documents.
func (a *application) hold(m *manifest) {
	counted := map[string]bool{}
	for _, d := range m.documents {
		if d.Err != nil {
			continue
		}
		id, ok := a.set.certain(m.path, d)
		if !ok || counted[id] {
			continue
		}
		counted[id] = true
		if e := a.set.entries[id]; e != nil {
			a.update(e, d)
		} else {
			a.place(d, id)
		}
	}
}

// certain is the ID under which a valid document of a manifest that is held counts. ok is
// false for one that does not.
func (s *Set) certain(path string, d *api.Document) (id string, ok bool) {
	identity := d.Identity()
	occupied := s.entries[d.ID] != nil
	for _, e := range s.Of(identity) {
		if e.isIn(path) {
			return e.ID, e.ID == d.ID || e.ID == beside(path, identity)
		}
	}
	switch {
	case !occupied:
		return d.ID, true
	case len(s.Of(identity)) > 0:
		return beside(path, identity), true
	}
	return "", false
}

// beside is the ID for a pod of a manifest that is held, where it came from
// another manifest and another pod is in its place.
func beside(path string, identity types.NamespacedName) string {
	return path + "#?" + identity.String()
}
