package mux

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// outcome is what follows from a merge.
type outcome struct {
	// changes come in the order they must be applied.
	changes []pod.Change
	// seen is the source's name if this was its first snapshot.
	seen string
	// keep are records to be on the disk before the changes are sent, drop
	// the documents whose records go.
	keep []state.Record
	drop []string
}

// merge takes a delivery into the store. The cost of a difference does not
// depend on how many documents the store holds.
func (s *store) merge(d delivery, now time.Time, log *slog.Logger) outcome {
	src := s.sources[d.source]
	t := s.merging(src, now, log)
	held := heldFiles(d.docs)
	for i := range d.docs {
		if !src.shifted(&d.docs[i], held) {
			t.document(&d.docs[i])
		}
	}
	gone := d.gone
	if d.snapshot {
		gone = src.missing(d.docs)
	}
	for _, id := range gone {
		t.forget(id)
	}
	src.lastRead = now
	out := outcome{changes: t.changes(pod.Add), keep: t.records(), drop: t.gone}
	if d.snapshot && !src.seen {
		src.seen, out.seen = true, src.Name
	}
	return out
}

// missing are the IDs of entries that a snapshot neither names nor covers.
func (s *sourceStore) missing(docs []pod.Document) []string {
	named := make(map[string]bool, len(docs))
	var prefixes []string
	for i := range docs {
		named[docs[i].ID] = true
		if docs[i].Err != nil {
			prefixes = append(prefixes, coveredBy(docs[i].ID))
		}
	}
	var gone []string
	for id := range s.entries {
		covered := slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(id, p) })
		if !named[id] && !covered {
			gone = append(gone, id)
		}
	}
	slices.Sort(gone)
	return gone
}

// heldFiles are the beginnings of the IDs of files that could not be split.
func heldFiles(docs []pod.Document) (prefixes []string) {
	for i := range docs {
		if path, ok := strings.CutSuffix(docs[i].ID, pod.HoldSuffix); ok && docs[i].Err != nil {
			prefixes = append(prefixes, path+"#")
		}
	}
	return prefixes
}

// shifted reports whether a document only seems to be another pod: its file
// could not be split, so that what stands under the ID of a restored entry may
// be its neighbour. A source sees to that itself once it has read the file
// whole; what it read before a restart only the entry tells.
func (s *sourceStore) shifted(d *pod.Document, held []string) bool {
	e := s.entries[d.ID]
	if d.Pod == nil || e == nil || !e.restored || e.slot.identity == pod.Identity(d.Pod) {
		return false
	}
	return slices.ContainsFunc(held, func(p string) bool { return strings.HasPrefix(d.ID, p) })
}

// merging is the work of one merge.
type merging struct {
	store  *store
	source *sourceStore
	now    time.Time
	log    *slog.Logger
	// touched are the slots to look at, in the order they were met.
	touched []*slot
	met     map[*slot]bool
	// left says which slot an entry was in before this delivery, where it
	// has left it: the successor of what ran there.
	left map[*entry]*slot
	// changed are the entries whose record on the disk is not true any more,
	// gone those that have none.
	changed []*entry
	gone    []string
}

func (s *store) merging(src *sourceStore, now time.Time, log *slog.Logger) *merging {
	return &merging{
		store: s, source: src, now: now, log: log,
		met: map[*slot]bool{}, left: map[*entry]*slot{},
	}
}

func (t *merging) touch(sl *slot) {
	if sl != nil && !t.met[sl] {
		t.met[sl] = true
		t.touched = append(t.touched, sl)
	}
}

// document takes one document in. An entry is unchanged when its version is;
// pods are compared only where that differs.
func (t *merging) document(d *pod.Document) {
	e := t.source.entries[d.ID]
	if e == nil {
		e = &entry{id: d.ID}
		t.source.entries[d.ID] = e
	}
	if d.Err != nil {
		t.refuse(e, d)
		return
	}
	if e.fault != nil {
		t.log.Info("document is valid again", "source", t.source.Name, "document", e.id)
		e.fault = nil
	}
	if e.pod != nil && e.podVersion == d.Version && !e.restored {
		e.version = d.Version
		return
	}
	if e.podVersion != d.Version {
		t.changed = append(t.changed, e)
	}
	e.version, e.podVersion, e.pod, e.restored = d.Version, d.Version, d.Pod, false
	left, entered := t.source.place(e, d.Pod)
	if left != nil {
		t.left[e] = left
	}
	t.touch(left)
	t.touch(entered)
}

// refuse notes that a document cannot be used; its last valid version stays.
func (t *merging) refuse(e *entry, d *pod.Document) {
	if e.fault != nil && e.fault.Error() == d.Err.Error() {
		e.version = d.Version
		return
	}
	t.log.Warn("document refused", "source", t.source.Name, "document", e.id, "err", d.Err,
		"kept", e.pod != nil)
	e.version, e.fault, e.since = d.Version, d.Err, t.now
}

// forget drops a document that the source no longer holds.
func (t *merging) forget(id string) {
	e := t.source.entries[id]
	if e == nil {
		return
	}
	delete(t.source.entries, id)
	if e.pod != nil {
		t.gone = append(t.gone, id)
	}
	t.touch(t.source.displace(e))
}

// changes compares what every touched slot should run with what the sync loop
// has of it, and settles the difference. A new pod is introduced by op.
func (t *merging) changes(op pod.Op) []pod.Change {
	for _, sl := range t.touched {
		before := sl.chosen
		sl.choose()
		if before != sl.chosen {
			t.changed = append(t.changed, sl.entries...)
		}
		if releases(sl) {
			for _, waiting := range t.store.refused {
				t.touch(waiting)
			}
		}
	}
	moving := t.moving()
	var out []pod.Change
	removed := map[*slot]int{}
	for _, sl := range t.touched {
		if !moving[sl] {
			continue
		}
		if sl.sent != nil {
			removed[sl] = len(out)
			out = append(out, pod.Change{
				Op: pod.Remove, Old: sl.sent.pod, Origin: sl.sent.origin, Restored: sl.sent.restored,
			})
			delete(t.store.owner, sl.sent.pod.UID)
			sl.sent = nil
		}
	}
	for _, sl := range t.touched {
		switch {
		case sl.chosen == nil || sl.clash != "":
		case moving[sl]:
			c := t.add(op, sl)
			if i, ok := removed[cmp.Or(t.left[sl.chosen], sl)]; ok && out[i].Replaces == "" {
				c.Replaces, out[i].Replaces = out[i].Old.UID, c.New.UID
			}
			out = append(out, c)
		default:
			if c, ok := t.update(sl); ok {
				out = append(out, c)
			}
		}
		t.drop(sl)
	}
	for i := range out {
		out[i].Source = out[i].Origin.Source
	}
	slices.SortStableFunc(out, func(a, b pod.Change) int { return cmp.Compare(rank[a.Op], rank[b.Op]) })
	return out
}

// rank is the order of operations within one update.
var rank = map[pod.Op]int{
	pod.Restore: 0, pod.Remove: 1, pod.Add: 2, pod.UpdateOp: 3, pod.Delete: 4, pod.Reconcile: 5,
}

// releases reports whether the UID the sync loop has of the slot goes away.
func releases(sl *slot) bool {
	return sl.sent != nil && (sl.chosen == nil || sl.chosen.pod.UID != sl.sent.pod.UID)
}

// moving are the touched slots whose UID changes: from none, to none, or to
// another. A slot that wants a UID another one keeps does not move: what runs
// goes on and the clash is shown.
func (t *merging) moving() map[*slot]bool {
	moving := map[*slot]bool{}
	for _, sl := range t.touched {
		sl.clash = ""
		t.store.refused = slices.DeleteFunc(t.store.refused, func(have *slot) bool { return have == sl })
		if sl.sent == nil && sl.chosen != nil || releases(sl) {
			moving[sl] = true
		}
	}
	for again := true; again; {
		again = false
		claimed := map[types.UID]*slot{}
		for _, sl := range t.touched {
			if !moving[sl] || sl.chosen == nil {
				continue
			}
			uid := sl.chosen.pod.UID
			holder := claimed[uid]
			if o := t.store.owner[uid]; holder == nil && o != nil && o != sl && !moving[o] {
				holder = o
			}
			if holder == nil {
				claimed[uid] = sl
				continue
			}
			sl.clash = fmt.Sprintf("uid %s is already that of %s from source %q; give one of them another metadata.uid",
				uid, holder.identity, holder.source.Name)
			t.log.Warn("document refused", "source", sl.source.Name, "document", sl.chosen.id, "err", sl.clash)
			t.store.refused = append(t.store.refused, sl)
			delete(moving, sl)
			again = true
		}
	}
	return moving
}

// add sends the slot's chosen pod for the first time.
func (t *merging) add(op pod.Op, sl *slot) pod.Change {
	e := sl.chosen
	firstSeen := t.now
	if e.restored {
		firstSeen = e.since
	}
	sl.sent = &sent{pod: e.pod, origin: origin(sl, e, firstSeen), restored: e.restored}
	t.store.owner[e.pod.UID] = sl
	return pod.Change{Op: op, New: e.pod, Origin: sl.sent.origin, Restored: e.restored}
}

// update sends a newer version of a pod the sync loop has, if they differ.
func (t *merging) update(sl *slot) (pod.Change, bool) {
	e, old := sl.chosen, sl.sent
	if old == nil || old.pod == e.pod {
		return pod.Change{}, false
	}
	sl.sent = &sent{pod: e.pod, origin: origin(sl, e, old.origin.FirstSeen)}
	fields := pod.Diff(old.pod, e.pod)
	if fields == 0 {
		return pod.Change{}, false
	}
	return pod.Change{
		Op: operation(e.pod, fields), Old: old.pod, New: e.pod, Changed: fields, Origin: sl.sent.origin,
	}, true
}

// operation classifies a difference as a kubelet does.
func operation(p *v1.Pod, fields pod.Fields) pod.Op {
	switch {
	case !pod.Meaningful(fields):
		return pod.Reconcile
	case p.DeletionTimestamp != nil:
		return pod.Delete
	}
	return pod.UpdateOp
}

func origin(sl *slot, e *entry, firstSeen time.Time) pod.Origin {
	return pod.Origin{Source: sl.source.Name, Document: e.id, Version: e.podVersion, FirstSeen: firstSeen}
}

// drop forgets a slot that holds nothing any more.
func (t *merging) drop(sl *slot) {
	if len(sl.entries) == 0 && sl.sent == nil {
		delete(sl.source.slots, sl.identity)
	}
}
