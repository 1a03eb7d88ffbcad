package documents

import (
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// Delivery is one delivery of a source.
type Delivery struct {
	// Snapshot: Documents are all documents of the source. If false, Documents are the changed
	// ones. A manifest that has one of them is delivered with all its documents.
	Snapshot  bool
	Documents []api.Document
	// Gone are the IDs of documents, and the paths of manifests, that were removed.
	Gone []string
}

// Result is the set of changes by a delivery.
type Result struct {
	// Touched are the identities whose entries have changed, in the order of the documents, then of
	// the removed ones.
	Touched []types.NamespacedName
	// Changed are the entries whose record on the disk is out of date. Forgotten are the IDs that
	// have no entry any more.
	Changed   []*Entry
	Forgotten []string
	// Reidentified has the former identity of each entry whose pod has another identity now by its
	// annotation alone.
	Reidentified map[*Entry]types.NamespacedName
	// Differences are the differences between the pod of an entry and the pod before.
	Differences map[*Entry]Difference
	// Refused are the IDs of documents that have a new fault. Mended are the IDs of documents that
	// no longer have a fault.
	Refused, Mended []string
	// Received are the pods that were added to the set, Released the pods that were removed from
	// it.
	Received, Released []*v1.Pod
}

// Difference is the earlier pod of an entry and the fields in which the new pod differs from it.
type Difference struct {
	Before *v1.Pod
	Fields pod.Fields
}

// application is the work on one delivery.
type application struct {
	*Result
	set *Set
	now time.Time
	// leaving are the entries that have no document any more.
	leaving []*Entry
	// places are the IDs whose entry has changed or is gone.
	places []string
	// misplaced are entries that are kept by a document with a fault that names another pod.
	misplaced []*Entry
	touched   map[types.NamespacedName]bool
}

// Apply applies a delivery to the set. Its cost depends on the manifests in the delivery; only the
// cost of a snapshot depends on all documents of the source.
func (s *Set) Apply(d *Delivery, now time.Time) *Result {
	n := len(d.Documents) // most deliveries change all their documents, or only one
	a := &application{
		Result: &Result{
			Touched: make([]types.NamespacedName, 0, n), Changed: make([]*Entry, 0, n), Received: make([]*v1.Pod, 0, n),
			Reidentified: map[*Entry]types.NamespacedName{}, Differences: map[*Entry]Difference{},
		},
		set: s, now: now, touched: make(map[types.NamespacedName]bool, n),
	}
	manifests := split(d.Documents)
	gone := s.gone(d, manifests)
	// match depends on the faults of all manifests, so restate runs first.
	for i := range manifests {
		a.restate(&manifests[i])
	}
	for _, id := range gone {
		s.blame(id, nil)
	}
	for i := range manifests {
		if m := &manifests[i]; m.held {
			a.hold(m)
		} else {
			a.match(m)
		}
	}
	for _, id := range gone {
		if e := s.entries[id]; e != nil {
			a.leaving = append(a.leaving, e)
		}
	}
	slices.SortStableFunc(a.leaving, func(x, y *Entry) int { return strings.Compare(x.ID, y.ID) })
	a.leave()
	a.yield()
	slices.Sort(a.places)
	for _, id := range slices.Compact(a.places) {
		if s.entries[id] == nil {
			a.Forgotten = append(a.Forgotten, id)
		}
	}
	return a.Result
}

// manifest has the documents of one manifest, or one document that is in no manifest.
type manifest struct {
	path string
	// held: it is not certain which pods the manifest has.
	held      bool
	documents []*api.Document
}

// split returns the manifests of some documents, in the order of the first of each.
func split(all []api.Document) []manifest {
	manifests, single := make([]manifest, 0, len(all)), make([]*api.Document, len(all))
	byPath := map[string]int{}
	for i := range all {
		d := &all[i]
		path, ok := api.ManifestOf(d.ID)
		if !ok {
			single[i] = d
			manifests = append(manifests, manifest{path: d.ID, documents: single[i : i+1 : i+1]})
			continue
		}
		at, ok := byPath[path]
		if !ok {
			at = len(manifests)
			byPath[path], manifests = at, append(manifests, manifest{path: path})
		}
		m := &manifests[at]
		m.documents, m.held = append(m.documents, d), m.held || d.Holds()
	}
	return manifests
}

// gone returns the IDs that the delivery removes, ordered, without those of the manifests that are
// delivered.
func (s *Set) gone(d *Delivery, delivered []manifest) (gone []string) {
	named := make(map[string]bool, len(delivered))
	for i := range delivered {
		named[delivered[i].path] = true
	}
	leave := func(id string) {
		path, ok := api.ManifestOf(id)
		if !ok {
			path = id
		}
		if !named[path] {
			gone = append(gone, id)
		}
	}
	if d.Snapshot {
		for id := range s.entries {
			leave(id)
		}
		for id := range s.faults {
			leave(id)
		}
	}
	for _, id := range d.Gone {
		leave(id)
		for of := range s.manifests[id] {
			leave(of)
		}
	}
	slices.Sort(gone)
	return slices.Compact(gone)
}

// update updates an entry from its document.
func (a *application) update(e *Entry, d *api.Document) {
	// An API server that was restored from a backup may use a resource version twice.
	if e.Version == d.Version && e.Pod.UID == d.Pod.UID && !e.Restored {
		return
	}
	identity := pod.Identity(d.Pod)
	switch {
	case e.Pod.UID != d.Pod.UID || e.Identity != identity:
		a.Changed = append(a.Changed, e)
	default:
		fields := pod.Diff(e.Pod, d.Pod)
		a.Differences[e] = Difference{e.Pod, fields}
		if pod.Meaningful(fields) {
			a.Changed = append(a.Changed, e)
		}
	}
	switch {
	case e.Suppressed == nil:
	case e.Identity != identity:
		e.Suppressed = nil // the stored hold belongs to another pod
	case !pod.SameInstance(e.Pod, d.Pod):
		e.Suppressed.Verdict = nil
	}
	a.Released, a.Received = append(a.Released, e.Pod), append(a.Received, d.Pod)
	a.touch(e.Identity)
	if e.Identity != identity {
		a.Reidentified[e] = e.Identity
		a.set.remove(e)
		e.Identity, e.FirstSeen = identity, a.now
		a.set.put(e)
		a.touch(identity)
	}
	e.Version, e.Pod, e.Restored = d.Version, d.Pod, false
}

// add adds an entry for a document.
func (a *application) add(d *api.Document, id string) {
	e := &Entry{Source: a.set.source, ID: id, Identity: pod.Identity(d.Pod), Version: d.Version, Pod: d.Pod, FirstSeen: a.now}
	a.set.put(e)
	a.touch(e.Identity)
	a.Changed, a.Received = append(a.Changed, e), append(a.Received, d.Pod)
}

// move changes the ID of an entry.
func (a *application) move(e *Entry, id string) {
	if e.ID == id && a.set.entries[id] == e {
		return
	}
	a.set.remove(e)
	a.places = append(a.places, e.ID)
	e.ID = id
	a.set.put(e)
	a.touch(e.Identity)
	a.Changed = append(a.Changed, e)
}

// refuse sets the fault of a document.
func (a *application) refuse(d *api.Document) {
	f := &Fault{Err: d.Err, Since: a.now, Claims: d.Claims}
	if before := a.set.faults[d.ID]; before != nil && before.Err.Error() == d.Err.Error() {
		f.Since = before.Since
	} else {
		a.Refused = append(a.Refused, d.ID)
	}
	a.set.blame(d.ID, f)
}

// leave drops the entries that have no document any more, unless a document with a fault names
// their pod.
func (a *application) leave() {
	left := map[*Entry]bool{}
	for i := 0; i < len(a.leaving); i++ {
		e := a.leaving[i]
		if left[e] {
			continue
		}
		left[e] = true
		id := a.set.claimant(e)
		if id == "" {
			a.drop(e)
			continue
		}
		if other := a.set.entries[id]; other != nil {
			if a.set.isHeld(id) {
				path, _ := api.ManifestOf(id)
				id = beside(path, e.Identity)
			} else {
				a.leaving = append(a.leaving, other)
			}
		}
		a.move(e, id)
	}
}

// claimant returns the ID of a document with a fault that names the pod of an entry, if there is no
// other entry of that pod; empty for none.
func (s *Set) claimant(e *Entry) string {
	if ids := s.claims[e.Identity]; len(ids) > 0 && len(s.Of(e.Identity)) == 1 {
		return ids[0]
	}
	return ""
}

// yield drops each misplaced entry whose pod is also defined by another document.
func (a *application) yield() {
	for _, e := range a.misplaced {
		if a.set.Has(e) && a.set.isMisplaced(e) &&
			slices.ContainsFunc(a.set.Of(e.Identity), func(have *Entry) bool { return !a.set.isMisplaced(have) }) {
			a.drop(e)
		}
	}
}

// drop removes an entry.
func (a *application) drop(e *Entry) {
	if a.set.entries[e.ID] == e {
		a.places = append(a.places, e.ID)
	}
	a.set.remove(e)
	a.Released = append(a.Released, e.Pod)
	a.touch(e.Identity)
}

func (a *application) touch(identity types.NamespacedName) {
	if !a.touched[identity] {
		a.touched[identity] = true
		a.Touched = append(a.Touched, identity)
	}
}
