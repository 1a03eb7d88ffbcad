package history

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pod"
)

// place is an identity inside a source, of which one document runs.
type place struct {
	source   string
	identity types.NamespacedName
}

// runs says which document runs in each place.
func runs(pods []mux.Desired) map[place]string {
	out := map[place]string{}
	for _, d := range pods {
		out[place{d.Origin.Source, pod.Identity(d.Pod)}] = d.Origin.Document
	}
	return out
}

// knownStays checks what we say of duplicates, where a kubelet says something
// else: the document that runs goes on, else the first by ID runs. Nothing is
// said of those whose UID is another pod's too.
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

// places are the IDs of the documents in each place, in order, without places
// where a UID is contended.
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
