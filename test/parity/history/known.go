package history

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pod"
)

// place is an identity inside a source. One of the documents with that identity runs.
type place struct {
	source   string
	identity types.NamespacedName
}

// runs returns the document that runs in each place.
func runs(pods []mux.Desired) map[place]string {
	out := map[place]string{}
	for _, d := range pods {
		out[place{d.Origin.Source, pod.Identity(d.Pod)}] = d.Origin.Document
	}
	return out
}

// knownStays checks our rule for duplicates, which differs from a kubelet's: the document that runs
// stays, and if none runs, the first by ID starts. Documents whose UID another pod also has are not
// checked.
func knownStays(before, after ledger, was, is map[place]string, uids causes) error {
	had, has := before.places(uids), after.places(uids)
	for p, docs := range has {
		if len(docs) == 0 {
			continue
		}
		known := was[p]
		if slices.Contains(docs, known) && is[p] != known {
			return fmt.Errorf("%s of %s: %s was running and is there, but %q runs", p.identity, p.source, known, is[p])
		}
		if _, ok := had[p]; !ok && is[p] != docs[0] {
			return fmt.Errorf("%s of %s: %s is the first of %v, but %q runs", p.identity, p.source, docs[0], docs, is[p])
		}
	}
	return nil
}

// places returns the sorted IDs of the documents in each place. A place where a UID is contended
// has none.
func (l ledger) places(uids causes) map[place][]string {
	out, contended := map[place][]string{}, map[place]bool{}
	for _, s := range sources {
		for _, d := range l.of(s) {
			p := place{s, pod.Identity(d.raw)}
			out[p] = append(out[p], d.id)
			ids := uids[key{s, d.raw.UID}]
			contended[p] = contended[p] || ids[uidTwoNames] || ids[uidTwoSources] || d.unconfirmed
		}
	}
	for p := range contended {
		if contended[p] {
			out[p] = nil
		}
	}
	return out
}

// entry is one operation on one pod, as either side hands it on.
type entry struct {
	op  api.Op
	key key
	pod *v1.Pod
}

// held is a pod that was handed on and not removed again.
type held struct {
	// pod is the newest version handed on, added is the first version, and updated is the last
	// version that came with ADD, UPDATE or DELETE.
	pod, added, updated *v1.Pod
	// origin is set on our side only.
	origin api.Origin
}

// take applies an entry to the held pods; it fails if a kubelet's rules do not allow the entry.
func (e *entry) take(all map[key]*held) error {
	h := all[e.key]
	switch {
	case (e.op == api.Add || e.op == api.Restore) != (h == nil):
		return fmt.Errorf("%s of %s from %s, which is held: %t", e.op, e.key.uid, e.key.source, h != nil)
	case e.op == api.Remove:
		delete(all, e.key)
		return nil
	case h == nil:
		h = &held{added: e.pod}
		all[e.key] = h
	}
	h.pod = e.pod
	if e.op != api.Reconcile {
		h.updated = e.pod
	}
	return nil
}

// alone fails if two held pods have the same UID, or the same identity in the same source.
func alone(all map[key]*held) error {
	uids := map[types.UID]key{}
	type place struct {
		source   string
		identity types.NamespacedName
	}
	places := map[place]key{}
	for k, h := range all {
		if other, ok := uids[k.uid]; ok {
			return fmt.Errorf("%s is held from %s and from %s", k.uid, other.source, k.source)
		}
		at := place{k.source, pod.Identity(h.pod)}
		if other, ok := places[at]; ok {
			return fmt.Errorf("%s and %s are both held as %s of %s", other.uid, k.uid, at.identity, at.source)
		}
		uids[k.uid], places[at] = k, k
	}
	return nil
}
