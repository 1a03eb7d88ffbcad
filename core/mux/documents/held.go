package documents

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// hold applies a held manifest as far as it is certain. Its documents may have moved to the
// position of another one, as all documents do that follow a broken separator. So a document is
// used only if it names the pod that was at its position, if it is new at a free position, or if
// its pod has come from another manifest. Entries without a document are kept.
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

// certain returns the ID under which a valid document of a held manifest is used. ok is false if
// the document is not used.
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

// beside returns the ID for a pod of a held manifest that came from another manifest while another
// pod occupies its position.
func beside(path string, identity types.NamespacedName) string {
	return path + "#?" + identity.String()
}
