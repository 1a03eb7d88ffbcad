package documents

import (
	"iter"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
)

// match assigns the entries of a manifest to its documents. First, each document gets the entry of
// the pod that it names, wherever that entry was: documents at an unchanged position before moved
// documents, and valid ones before those with a fault. Then the remaining entries are assigned by
// position: to a valid document of the same pod with another identity, and to a document with a
// fault, which may be that pod with a name that is not right yet. An entry without a document is
// leaving.
func (a *application) match(m *manifest) {
	before := a.set.in(m.path)
	matched, taken := make([]*Entry, len(m.documents)), map[*Entry]bool{}
	assign := func(find func(*api.Document) *Entry, valid bool) {
		for i, d := range m.documents {
			if matched[i] != nil || (d.Err == nil) != valid {
				continue
			}
			if e := find(d); e != nil && !taken[e] {
				matched[i], taken[e] = e, true
			}
		}
	}
	inPlace := func(d *api.Document) *Entry { return a.set.entries[d.ID] }
	named := func(d *api.Document) *Entry {
		if e := inPlace(d); e != nil && e.Identity == d.Identity() {
			return e
		}
		return nil
	}
	moved := func(d *api.Document) *Entry {
		for _, e := range a.set.Of(d.Identity()) {
			if e.isIn(m.path) && !taken[e] {
				return e
			}
		}
		return nil
	}
	for _, find := range []func(*api.Document) *Entry{named, moved} {
		assign(find, true)
		assign(find, false)
	}
	assign(func(d *api.Document) *Entry { return samePod(inPlace(d), d.Pod) }, true)
	assign(inPlace, false)
	for _, e := range before {
		if !taken[e] {
			a.leaving = append(a.leaving, e)
		}
	}
	for i, d := range m.documents {
		switch e := matched[i]; {
		case e != nil:
			a.move(e, d.ID)
			if d.Err == nil {
				a.update(e, d)
			} else if a.set.isMisplaced(e) {
				a.misplaced = append(a.misplaced, e)
			}
		case d.Err == nil:
			a.place(d, d.ID)
		}
	}
}

// restate updates the faults of a manifest from its documents.
func (a *application) restate(m *manifest) {
	bad := map[string]bool{}
	for _, d := range m.documents {
		switch {
		case d.Err != nil:
			bad[d.ID] = true
			a.refuse(d)
		case a.set.faults[d.ID] != nil:
			a.Mended = append(a.Mended, d.ID)
		}
	}
	for id := range a.set.ids(m.path) {
		if a.set.faults[id] != nil && !bad[id] {
			a.set.blame(id, nil)
		}
	}
}

// place finds or adds the entry of a valid document that has no entry under its ID. It moves a
// misplaced entry of the same identity, which a document that names another pod keeps, or else adds
// a new entry.
func (a *application) place(d *api.Document, id string) {
	for _, e := range a.set.Of(d.Identity()) {
		if a.set.isMisplaced(e) && !a.set.isHeld(e.ID) {
			a.move(e, id)
			a.update(e, d)
			return
		}
	}
	a.add(d, id)
}

// ids yields the IDs of the entries and faults of a manifest, or of the one document that is in no
// manifest. The loop may remove the fault of an ID.
func (s *Set) ids(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for id := range s.manifests[path] {
			if !yield(id) {
				return
			}
		}
		if s.entries[path] != nil || s.faults[path] != nil {
			yield(path)
		}
	}
}

// in returns the entries of a manifest, ordered by ID.
func (s *Set) in(path string) (all []*Entry) {
	for id := range s.ids(path) {
		if e := s.entries[id]; e != nil {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(x, y *Entry) int { return strings.Compare(x.ID, y.ID) })
	return all
}

// isIn reports whether the entry belongs to the manifest at path, or is the document at path that
// is in no manifest.
func (e *Entry) isIn(path string) bool {
	of, ok := api.ManifestOf(e.ID)
	return ok && of == path || e.ID == path
}

// samePod returns the entry if p is its pod with, at most, another identity by its annotation; nil
// if not. Such a pod is not restarted.
func samePod(e *Entry, p *v1.Pod) *Entry {
	if e == nil || p == nil || e.Pod.UID != p.UID || e.Pod.Name != p.Name || e.Pod.Namespace != p.Namespace {
		return nil
	}
	return e
}
