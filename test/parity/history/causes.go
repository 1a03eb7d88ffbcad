package history

import (
	"reflect"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// The differences by their IDs in docs/differences.md.
const (
	duplicateName  = "duplicate-name-keeps-known"
	uidTwoNames    = "one-uid-two-names"
	uidTwoSources  = "one-uid-two-sources"
	renamed        = "renamed-pod-is-replaced"
	identityMark   = "identity-annotation"
	newestMetadata = "uncompared-metadata-is-newest"
	newestMirror   = "mirror-annotation-is-newest"
	byMeaning      = "compared-by-meaning"
	restoredPods   = "restored-pods"
	noSnapshot     = "difference-is-no-snapshot"
	lastValid      = "last-valid-version-stays"
	oneUpdate      = "one-update-per-delivery"
	readyPerSource = "ready-per-source"
)

// predicates are the IDs of all differences. Each has a line in docs/differences.md, and a run of
// the test meets each.
var predicates = []string{
	duplicateName, uidTwoNames, uidTwoSources, renamed, identityMark, newestMetadata, newestMirror,
	byMeaning, restoredPods, noSnapshot, lastValid, oneUpdate, readyPerSource,
}

// causes are, for each pod, the differences by which the two sides may disagree about it.
type causes map[key]map[string]bool

func (c causes) add(k key, id string) {
	if c[k] == nil {
		c[k] = map[string]bool{}
	}
	c[k][id] = true
}

func (c causes) with(others ...causes) causes {
	all := causes{}
	for _, o := range append(others, c) {
		for k, ids := range o {
			for id := range ids {
				all.add(k, id)
			}
		}
	}
	return all
}

// lasting returns the causes that hold as long as the contents of the sources stay the same. ours
// is used for one case only: a pod whose document now has the UID of another pod, and which still
// runs.
func lasting(l ledger, ours map[key]*held) causes {
	var kept []holding
	of := map[key]string{}
	for {
		c := causes{}
		docs := map[string][]holding{}
		for _, s := range sources {
			docs[s] = l.of(s)
		}
		for i := range kept {
			s := kept[i].given.Annotations[pod.AnnotationSource]
			docs[s] = append(docs[s], kept[i])
		}
		for _, s := range sources {
			inSource(c, s, docs[s])
		}
		acrossSources(c, docs)
		more := stranded(c, l, ours, of)
		for k, id := range of {
			c.add(k, id)
		}
		if len(more) == 0 {
			return c
		}
		kept = append(kept, more...)
	}
}

// inSource adds the causes inside one source: names, identities and UIDs that several documents
// claim, and pods that only Wardlet has.
func inSource(c causes, source string, docs []holding) {
	names := map[types.NamespacedName]int{}
	identities := map[types.NamespacedName]map[types.NamespacedName]bool{}
	uids := map[types.UID]map[types.NamespacedName]bool{}
	for _, d := range docs {
		names[name(d.raw)]++
		put(identities, pod.Identity(d.raw), name(d.raw))
		put(uids, d.raw.UID, name(d.raw))
	}
	for _, d := range docs {
		k := key{source, d.raw.UID}
		for id, holds := range map[string]bool{
			duplicateName: names[name(d.raw)] > 1,
			identityMark:  len(identities[pod.Identity(d.raw)]) > 1,
			uidTwoNames:   len(uids[d.raw.UID]) > 1,
			lastValid:     d.unreadable,
			restoredPods:  d.unconfirmed,
		} {
			if holds {
				c.add(k, id)
			}
		}
	}
}

func put[K comparable](sets map[K]map[types.NamespacedName]bool, k K, n types.NamespacedName) {
	if sets[k] == nil {
		sets[k] = map[types.NamespacedName]bool{}
	}
	sets[k][n] = true
}

func acrossSources(c causes, docs map[string][]holding) {
	in := map[types.UID]map[string]bool{}
	for s, all := range docs {
		for _, d := range all {
			if in[d.raw.UID] == nil {
				in[d.raw.UID] = map[string]bool{}
			}
			in[d.raw.UID][s] = true
		}
	}
	for uid, all := range in {
		for s := range all {
			if len(all) > 1 {
				c.add(key{s, uid}, uidTwoSources)
			}
		}
	}
}

// stranded returns the pods that we hold although no document has their identity and UID, because
// the document with that identity has a UID that is refused.
func stranded(c causes, l ledger, ours map[key]*held, known map[key]string) (more []holding) {
	for k, h := range ours {
		if _, ok := known[k]; ok || hasDocument(l, k, pod.Identity(h.pod)) {
			continue
		}
		for _, d := range l.of(k.source) {
			if pod.Identity(d.raw) != pod.Identity(h.pod) {
				continue
			}
			for _, id := range []string{uidTwoSources, uidTwoNames} {
				if c[key{k.source, d.raw.UID}][id] {
					known[k] = id
				}
			}
		}
		if _, ok := known[k]; ok {
			more = append(more, holding{document: document{id: h.origin.Document, raw: h.pod, given: h.pod}})
		}
	}
	return more
}

// hasDocument reports whether a document has the UID and the identity.
func hasDocument(l ledger, k key, identity types.NamespacedName) bool {
	for _, d := range l[k.source] {
		if d.raw.UID == k.uid && pod.Identity(d.raw) == identity {
			return true
		}
	}
	return false
}

// rewording is the operation that each side should report for a pod whose old and new version mean
// the same but are written differently.
type rewording struct{ theirs, ours api.Op }

// passing returns the causes of one delivery only.
func passing(before, after ledger) (causes, map[key]rewording) {
	c, reworded := causes{}, map[key]rewording{}
	had := before.pods()
	for k, now := range after.pods() {
		was := had[k]
		for _, p := range now {
			for _, o := range was {
				switch {
				case o == p:
				case name(o) != name(p):
					c.add(k, renamed)
				case pod.Identity(o) != pod.Identity(p):
					c.add(k, identityMark)
				}
			}
		}
		if len(was) != 1 || len(now) != 1 || was[0] == now[0] {
			continue
		}
		if r := (rewording{kubeletOp(was[0], now[0]), ourOp(was[0], now[0])}); r.theirs != r.ours {
			c.add(k, byMeaning)
			reworded[k] = r
		}
	}
	return c, reworded
}

// kubeletOp returns the operation a kubelet reports for a new version; it compares literally.
func kubeletOp(a, b *v1.Pod) api.Op {
	same := reflect.DeepEqual(a.Spec, b.Spec) && reflect.DeepEqual(a.Labels, b.Labels) &&
		reflect.DeepEqual(a.DeletionTimestamp, b.DeletionTimestamp) &&
		reflect.DeepEqual(a.DeletionGracePeriodSeconds, b.DeletionGracePeriodSeconds) &&
		!pod.Diff(a, b).Has(pod.FieldAnnotations)
	switch {
	case same && reflect.DeepEqual(a.Status, b.Status):
		return ""
	case same:
		return api.Reconcile
	case b.DeletionTimestamp != nil:
		return api.Delete
	}
	return api.UpdateOp
}

// ourOp returns the operation Wardlet reports for a new version; it compares by meaning.
func ourOp(a, b *v1.Pod) api.Op {
	fields := pod.Diff(a, b)
	switch {
	case fields == 0:
		return ""
	case !pod.Meaningful(fields):
		return api.Reconcile
	case b.DeletionTimestamp != nil:
		return api.Delete
	}
	return api.UpdateOp
}
