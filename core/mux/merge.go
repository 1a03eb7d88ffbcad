package mux

import (
	"log/slog"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// outcome is what follows from a merge.
type outcome struct {
	// changes come in the order they must be applied.
	changes []api.Change
	// seen is the source's name if this was its first snapshot.
	seen string
	// keep are records to be on the disk before the changes are sent, drop
	// the documents whose records go.
	keep []state.Record
	drop []state.DocumentID
	// notices and asked are for those whom Run tells and asks.
	notices []func(Waits)
	asked   []question
	// recalled are waits whose verdict is from before a restart.
	recalled []recalled
	// offers are for the filter.
	offers []offer
	// resolutions are answers to be kept, ended are identities whose answers
	// go, contentions are for the resolver.
	resolutions []state.Resolution
	ended       []types.NamespacedName
	contentions []contention
}

// merge takes a delivery into the store. The cost of a difference does not
// depend on how many documents the store holds.
func (s *store) merge(d delivery, t *merging) outcome {
	src := s.sources[d.source]
	t.source = src
	t.scope = src.scope(&d)
	docs := src.sure(d.docs, &t.scope)
	src.outdate(docs, &t.scope)
	t.claims(docs, t.scope.gone)
	for i := range docs {
		t.document(&docs[i])
	}
	for _, id := range t.scope.gone {
		t.forget(id)
	}
	t.yield(docs)
	t.vacate()
	t.tellRefused()
	src.lastRead = t.now
	out := outcome{changes: t.changes()}
	if d.snapshot && !src.seen {
		src.seen, out.seen = true, src.Name
		t.forgetKept()
	}
	return t.finish(out)
}

// finish adds to an outcome what was collected on the way.
func (t *merging) finish(out outcome) outcome {
	out.keep, out.drop, out.notices, out.asked = t.records(), t.gone, t.notices, t.asked
	out.recalled = t.recalled
	out.offers, out.ended, out.contentions = t.offers, t.ended, t.contentions
	for _, c := range t.answered {
		if t.store.contests[c.identity] == c && c.resolution != nil {
			out.resolutions = append(out.resolutions, c.keptResolution())
		}
	}
	return out
}

// merging is the work of one step of the store.
type merging struct {
	store *store
	// source is the one that delivers, nil where none does.
	source *sourceStore
	now    time.Time
	log    *slog.Logger
	// touched are the slots to look at, in the order they were met.
	touched []*slot
	met     map[*slot]bool
	// left says which slot an entry was in before this delivery, where it
	// has left it: the successor of what ran there.
	left map[*entry]*slot
	// compared are the entries whose pod was compared with the one before.
	compared map[*entry]comparison
	// changed are the entries whose record on the disk is not true any more,
	// gone those that have none.
	changed []*entry
	gone    []state.DocumentID
	// scope is what the delivery speaks of.
	scope scope
	// vacated are the IDs of documents that lost their pod to another one.
	vacated []string
	// freed are UIDs that were taken from the sync loop.
	freed []types.UID
	// refused are the IDs of documents that cannot be used, and could be before
	// or for another reason.
	refused []string
	notices []func(Waits)
	asked   []question
	// recalled are those that have their answer from before a restart.
	recalled []recalled
	offers   []offer
	// answered are contests that have an answer from now on, ended identities
	// that are no longer contested.
	answered    []*contest
	ended       []types.NamespacedName
	contentions []contention
}

func (s *store) merging(now time.Time, log *slog.Logger) *merging {
	return &merging{store: s, now: now, log: log, met: map[*slot]bool{}, left: map[*entry]*slot{}, compared: map[*entry]comparison{}}
}

func (t *merging) touch(sl *slot) {
	if sl != nil && !t.met[sl] {
		t.met[sl] = true
		t.touched = append(t.touched, sl)
	}
}

// document takes one document in. An entry is unchanged when its version is;
// pods are compared only where that differs.
func (t *merging) document(d *api.Document) {
	e := t.source.entry(d.ID)
	if d.Err != nil {
		t.refuse(e, d)
		return
	}
	e = t.reclaim(t.release(e, pod.Identity(d.Pod)), pod.Identity(d.Pod))
	if e.fault != nil {
		if t.mayTell(t.source) {
			t.log.Info("document is valid again", "source", t.source.Name, "document", e.id)
		}
		e.fault = nil
	}
	// An API server that was restored may give a version out twice.
	if e.pod != nil && e.podVersion == d.Version && e.pod.UID == d.Pod.UID && !e.restored {
		e.version = d.Version
		return
	}
	if t.matters(e, d.Pod) {
		t.changed = append(t.changed, e)
	}
	switch {
	case e.suppressed == nil:
	case e.slot.identity != pod.Identity(d.Pod):
		e.suppressed = nil // it was another pod that was held back
	case !pod.SameInstance(e.pod, d.Pod):
		e.suppressed.Verdict = nil
	}
	t.unseal(e.pod)
	t.store.seals.put(d.Pod)
	e.version, e.podVersion, e.pod, e.restored = d.Version, d.Version, d.Pod, false
	before := e.slot
	left, entered := t.source.place(e, d.Pod)
	if entered != before {
		e.firstSeen = t.now
	}
	t.touch(left)
	t.touch(entered)
	switch {
	case left == nil || left.first != e: // what runs there, if it does, is not this one
	case left.becomes(d.Pod) && entered.sent == nil && len(entered.entries) == 1 && len(t.store.rivals(entered.identity)) == 0:
		left.sent, entered.sent = nil, left.sent
		t.store.owner[d.Pod.UID] = entered
	default:
		t.left[e], left.heir = left, e
	}
}

// becomes reports whether what the sync loop has of the slot goes on as this
// pod, which its document is now.
func (sl *slot) becomes(p *v1.Pod) bool {
	return sl.runs() && sl.wait == nil && sl.successor == nil && isMerely(sl.sent.pod, p)
}

// isMerely reports whether two versions of a document are one pod all the same
// where they stand for different ones: another annotation is no reason to start
// it again.
func isMerely(a, b *v1.Pod) bool {
	return a.UID == b.UID && a.Name == b.Name && a.Namespace == b.Namespace
}

// matters reports whether a new version of an entry says something else than
// the one before, beside its status: only that is worth a write.
func (t *merging) matters(e *entry, p *v1.Pod) bool {
	if e.pod == nil || e.pod.UID != p.UID || e.slot.identity != pod.Identity(p) {
		return true
	}
	fields := pod.Diff(e.pod, p)
	t.compared[e] = comparison{e.pod, fields}
	return pod.Meaningful(fields)
}

// comparison is in what an entry's new pod differs from the one before.
type comparison struct {
	before *v1.Pod
	fields pod.Fields
}

// difference is in what the entry's pod differs from an earlier one.
func (t *merging) difference(before *v1.Pod, e *entry) pod.Fields {
	if c, ok := t.compared[e]; ok && c.before == before {
		return c.fields
	}
	return pod.Diff(before, e.pod)
}

// refuse notes that a document cannot be used; its last valid version stays.
func (t *merging) refuse(e *entry, d *api.Document) {
	if e.fault != nil && e.fault.Error() == d.Err.Error() {
		e.version = d.Version
		return
	}
	e.version, e.fault, e.since = d.Version, d.Err, t.now
	t.refused = append(t.refused, e.id)
}

// tellRefused logs which documents were refused, once it is known what is kept
// of them.
func (t *merging) tellRefused() {
	for _, id := range t.refused {
		if e := t.source.entries[id]; e != nil && !t.source.followsFromAnother(e) && t.mayTell(t.source) {
			t.log.Warn("document refused", "source", t.source.Name, "document", id, "err", e.fault.Error()+t.source.consequence(e),
				"kept", e.pod != nil || t.source.keepsBy(e))
		}
	}
}

// unseal checks, in a test build, that a pod is as its source gave it.
func (t *merging) unseal(p *v1.Pod) {
	if err := t.store.seals.drop(p); err != nil {
		t.log.Error(changedPod, "err", err)
	}
}

// changedPod is what a test build logs of a fault that must not be.
const changedPod = "a pod that is shared was changed"

// forget drops a document that the source no longer holds.
func (t *merging) forget(id string) {
	e := t.source.entries[id]
	if e == nil {
		return
	}
	e = t.release(e, types.NamespacedName{})
	t.source.remove(id)
	t.unseal(e.pod)
	if e.pod != nil {
		t.gone = append(t.gone, state.DocumentID{Source: t.source.Name, ID: id})
	}
	t.touch(t.source.displace(e))
}
