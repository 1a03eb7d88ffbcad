package mux

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// scope is what a delivery speaks of.
type scope struct {
	// manifests are those of which a document is named, true for one that is
	// held: which pods it has is uncertain.
	manifests map[string]bool
	// named are the identities of the documents, by ID, zero where they do not
	// say.
	named map[string]types.NamespacedName
	// gone are the IDs of the entries that are not there any more, in order.
	gone []string
}

// holds reports whether a manifest is held.
func (sc *scope) holds() bool {
	for _, held := range sc.manifests {
		if held {
			return true
		}
	}
	return false
}

// scope finds out what a delivery speaks of. Its cost depends on the manifests
// that are named, and only for a snapshot on all the source has.
func (s *sourceStore) scope(d *delivery) scope {
	sc := scope{manifests: map[string]bool{}, named: make(map[string]types.NamespacedName, len(d.docs))}
	for i := range d.docs {
		id := d.docs[i].ID
		sc.named[id] = d.docs[i].Identity()
		if path, ok := api.ManifestOf(id); ok {
			sc.manifests[path] = sc.manifests[path] || d.docs[i].Holds()
		}
	}
	forget := func(id string) {
		if _, named := sc.named[id]; !named && s.entries[id] != nil {
			sc.gone = append(sc.gone, id)
		}
	}
	switch {
	case d.snapshot:
		for id := range s.entries {
			if path, ok := api.ManifestOf(id); !ok || !sc.manifests[path] {
				forget(id)
			}
		}
	default:
		for path, held := range sc.manifests {
			if !held {
				for _, id := range s.manifests[path] {
					forget(id)
				}
			}
		}
		for _, gone := range d.gone {
			forget(gone)
			for _, id := range s.manifests[gone] {
				forget(id)
			}
		}
	}
	slices.Sort(sc.gone)
	sc.gone = slices.Compact(sc.gone)
	return sc
}

// beside is the ID for a pod of a manifest that is held, where it came from
// another manifest and another pod stood in its place.
func beside(path string, identity types.NamespacedName) string {
	return path + "#?" + identity.String()
}

// sure returns the documents of a delivery that can be taken in. One of a manifest
// that is held may stand in the place of another one, as all do that follow a
// separator that broke. So there only those count that are the pod that stood
// there, or are new where nothing stood, or have come from another manifest.
func (s *sourceStore) sure(docs []api.Document, sc *scope) []api.Document {
	if !sc.holds() {
		return docs
	}
	sure := make([]api.Document, 0, len(docs))
	came := map[string]bool{}
	for _, d := range docs {
		path, ok := api.ManifestOf(d.ID)
		if !ok || !sc.manifests[path] || d.Pod == nil {
			sure = append(sure, d)
			continue
		}
		identity := pod.Identity(d.Pod)
		switch at, here, known := s.stood(identity, path); {
		case at == beside(path, identity), known && !here && s.occupied(d.ID):
			if d.ID = beside(path, identity); came[d.ID] {
				continue // it was the first that counts
			}
			came[d.ID] = true
		case at != d.ID && (here || s.occupied(d.ID)):
			continue
		}
		sure = append(sure, d)
	}
	return sure
}

// outdate ends the faults of documents of manifests that are held and that are
// not taken in, or are there no more: they speak of what was there before.
func (s *sourceStore) outdate(taken []api.Document, sc *scope) {
	if !sc.holds() {
		return
	}
	named := make(map[string]bool, len(taken))
	for i := range taken {
		named[taken[i].ID] = true
	}
	for path, held := range sc.manifests {
		if !held {
			continue
		}
		for _, id := range s.manifests[path] {
			switch e := s.entries[id]; {
			case named[id]:
			case e.pod == nil:
				sc.gone = append(sc.gone, id)
			default:
				e.fault = nil
				s.claim(e, types.NamespacedName{})
			}
		}
	}
	slices.Sort(sc.gone)
}

// stood says under which ID of a manifest a pod stood last, if it was here. known
// is false for one that stood nowhere and does not run.
func (s *sourceStore) stood(identity types.NamespacedName, path string) (id string, here, known bool) {
	sl := s.slots[identity]
	if sl == nil {
		return "", false, false
	}
	for _, e := range sl.entries {
		if e.isIn(path) {
			return e.id, true, true
		}
	}
	return "", false, len(sl.entries) > 0 || sl.sent != nil
}

// isIn reports whether the entry is one of a manifest.
func (e *entry) isIn(path string) bool {
	of, ok := api.ManifestOf(e.id)
	return ok && of == path
}

// held reports whether the manifest of an ID is held.
func (t *merging) held(id string) bool {
	path, ok := api.ManifestOf(id)
	if !ok {
		return false
	}
	if held, named := t.scope.manifests[path]; named {
		return held
	}
	return t.source.entries[path+api.HoldSuffix] != nil
}

// moves reports whether an entry's pod stands elsewhere in its manifest from now
// on, for which that has to be known whole.
func (t *merging) moves(e *entry) bool {
	path, ok := api.ManifestOf(e.id)
	if held, named := t.scope.manifests[path]; !ok || !named || held {
		return false
	}
	return t.scope.named[e.id] != e.slot.identity
}

// occupied reports whether there is a last valid version under an ID.
func (s *sourceStore) occupied(id string) bool {
	e := s.entries[id]
	return e != nil && e.pod != nil
}
