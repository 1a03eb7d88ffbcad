package mux

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// claims notes which pods the documents of a delivery would be if they had no
// fault. It comes before anything of the delivery is taken in: an ID is a place
// in a file, and what stands there changes when something before it does, so
// the last valid version of a document with a fault may stand under another ID.
func (t *merging) claims(docs []pod.Document, gone []string) {
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

// release gives the entry that is under the ID of e from now on, whose pod may
// be replaced by one of another identity or forgotten: a pod that only a
// document with a fault still names goes on as the last valid version of that.
func (t *merging) release(e *entry, identity types.NamespacedName) *entry {
	for e.slot != nil && e.slot.identity != identity && len(e.slot.entries) == 1 {
		heir := t.source.claimant(e.slot.identity)
		if heir == nil {
			break
		}
		t.exchange(e, heir)
		e = heir
	}
	return e
}

// claimant is an entry whose document would be a pod of this identity, while
// the pod it has is another one or none.
func (s *sourceStore) claimant(identity types.NamespacedName) *entry {
	for _, id := range s.claims[identity] {
		if e := s.entries[id]; e.slot == nil || e.slot.identity != identity {
			return e
		}
	}
	return nil
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

// entry gives the entry of an ID, and makes it if there is none.
func (s *sourceStore) entry(id string) *entry {
	e := s.entries[id]
	if e == nil {
		e = &entry{reading: reading{id: id}}
		s.entries[id] = e
	}
	return e
}
