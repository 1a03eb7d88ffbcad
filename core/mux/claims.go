package mux

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/state"
)

// claims notes which pods the documents of a delivery would be if they had no
// fault. It comes before anything of the delivery is taken in: an ID is a place
// in a file, and what stands there changes when something before it does, so
// the last valid version of a document with a fault may stand under another ID.
func (t *merging) claims(docs []api.Document, gone []string) {
	for i := range docs {
		d := &docs[i]
		if d.Claims != (types.NamespacedName{}) || t.source.entries[d.ID] != nil {
			t.source.claim(t.source.entry(d.ID), d.Claims)
		}
	}
	for _, id := range gone {
		if e := t.source.entries[id]; e != nil {
			t.source.claim(e, types.NamespacedName{})
		}
	}
}

// claim notes the identity that the entry's document would have.
func (s *sourceStore) claim(e *entry, identity types.NamespacedName) {
	if e.claims == identity {
		return
	}
	if others := slices.DeleteFunc(s.claims[e.claims], func(id string) bool { return id == e.id }); len(others) > 0 {
		s.claims[e.claims] = others
	} else {
		delete(s.claims, e.claims)
	}
	if e.claims = identity; identity != (types.NamespacedName{}) {
		s.claims[identity] = append(s.claims[identity], e.id)
	}
}

// release returns the entry that is under the ID of e from now on, whose pod may
// be replaced by one of another identity or forgotten: a pod that only a
// document with a fault still names goes on as the last valid version of that.
func (t *merging) release(e *entry, identity types.NamespacedName) *entry {
	for e.slot != nil && e.slot.identity != identity {
		heir := t.source.claimant(e)
		if heir != nil && heir.pod != nil && t.held(heir.id) {
			// What that has may not be forgotten either.
			path, _ := api.ManifestOf(heir.id)
			heir = t.source.entry(beside(path, e.slot.identity))
		}
		if heir == nil || heir.slot != nil && heir.slot.identity == e.slot.identity {
			break
		}
		t.exchange(e, heir)
		e = heir
	}
	return e
}

// reclaim returns the entry that is under the ID of e from now on, whose document
// is a pod of this identity: one that stood elsewhere in the manifest, or that is
// the last valid version of a document that names another pod now.
func (t *merging) reclaim(e *entry, identity types.NamespacedName) *entry {
	sl := t.source.slots[identity]
	if sl == nil || e.slot == sl {
		return e
	}
	path, _ := api.ManifestOf(e.id)
	at := slices.IndexFunc(sl.entries, func(have *entry) bool {
		return have.keepsAnother() && !t.held(have.id) || have.isIn(path) && t.moves(have)
	})
	if at < 0 {
		return e
	}
	owner := sl.entries[at]
	t.exchange(e, owner)
	t.empty(e)
	return owner
}

// yield ends that documents with faults keep the pods that stood in their place
// once, where they name others and those have a document of their own.
func (t *merging) yield(docs []api.Document) {
	for i := range docs {
		e := t.source.entries[docs[i].ID]
		if e == nil || e.slot == nil || !e.keepsAnother() || t.held(e.id) {
			continue
		}
		if slices.ContainsFunc(e.slot.entries, func(have *entry) bool { return !have.keepsAnother() }) {
			t.empty(e)
		}
	}
}

// keepsAnother reports whether the entry's document names another pod than it
// has.
func (e *entry) keepsAnother() bool {
	return e.claims != (types.NamespacedName{}) && e.claims != e.slot.identity
}

// empty takes the entry's pod from it.
func (t *merging) empty(e *entry) {
	if e.slot == nil {
		return
	}
	t.unseal(e.pod)
	t.touch(t.source.displace(e))
	e.pod, e.podVersion, e.restored, e.suppressed = nil, "", false, nil
	t.vacated = append(t.vacated, e.id)
}

// claimant is an entry whose document would be the pod that e is, while the pod
// it has is another one or none. It is of the same manifest, unless no other
// document is that pod.
func (s *sourceStore) claimant(e *entry) (found *entry) {
	if sl := e.slot; sl.first != nil && sl.first != e && sl.first.slot == sl {
		return nil // another one runs
	}
	path, _ := api.ManifestOf(e.id)
	for _, id := range s.claims[e.slot.identity] {
		have := s.entries[id]
		if have.slot == e.slot {
			continue
		}
		if have.isIn(path) {
			return have
		}
		if found == nil && len(e.slot.entries) == 1 {
			found = have
		}
	}
	return found
}

// exchange has two entries trade the documents they are the pods of.
func (t *merging) exchange(a, b *entry) {
	a.reading, b.reading = b.reading, a.reading
	for _, e := range []*entry{a, b} {
		t.source.entries[e.id] = e
		if e.slot == nil {
			t.vacated = append(t.vacated, e.id)
			continue
		}
		sl := t.source.displace(e)
		sl.insert(e)
		if sl.first == e && sl.sent != nil {
			sl.sent.origin.Document = e.id
		}
		t.touch(sl)
		t.changed = append(t.changed, e)
	}
}

// vacate has the records go of documents that have lost their pod to another
// one and got none instead.
func (t *merging) vacate() {
	for _, id := range t.vacated {
		if e := t.source.entries[id]; e == nil || e.pod == nil {
			t.gone = append(t.gone, state.DocumentID{Source: t.source.Name, ID: id})
		}
	}
}
