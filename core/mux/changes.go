package mux

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux/documents"
	"github.com/wardlet/wardlet/core/pod"
)

// changes compares the chosen document of every dirty slot with the version that the sync loop has,
// and resolves the difference as far as policy allows.
func (t *txn) changes() []api.Change {
	var out []api.Change
	for len(t.dirty) > 0 {
		batch := t.batch()
		out = append(out, t.applyBatch(batch)...)
	}
	t.announceFreed()
	for i := range out {
		out[i].Source = out[i].Origin.Source
	}
	slices.SortStableFunc(out, func(a, b api.Change) int { return cmp.Compare(rank[a.Op], rank[b.Op]) })
	return out
}

// rank is the order of operations within one update.
var rank = map[api.Op]int{
	api.Restore: 0, api.Remove: 1, api.Add: 2, api.UpdateOp: 3, api.Delete: 4, api.Reconcile: 5, api.Evict: 6,
}

// batch returns the dirty slots and the slots that depend on them: slots that were refused a UID,
// slots whose pod is kept until the pod of a dirty slot replaces it, and slots of the same
// identity.
func (t *txn) batch() []*slot {
	for looked := 0; looked < len(t.dirty); looked++ { //nolint:intrange // the list grows
		sl := t.dirty[looked]
		if sl.pending != nil {
			t.markDirty(sl.pending.replaces)
			t.markRefusedDirty(sl.pending.pod.UID)
		}
		if sl.sent != nil {
			t.markRefusedDirty(sl.sent.pod.UID)
		}
		for _, src := range t.store.ordered {
			if src != sl.source {
				t.markDirty(src.slots[sl.identity])
			}
		}
	}
	batch := t.dirty
	t.dirty, t.marked = nil, map[*slot]bool{}
	return batch
}

// markRefusedDirty marks the slots dirty that were refused this UID, because the UID may become
// free.
func (t *txn) markRefusedDirty(uid types.UID) {
	for _, sl := range t.store.refused[uid] {
		t.markDirty(sl)
	}
}

// applyBatch brings the sync loop's state of the slots of a batch into line with their documents,
// and returns the changes. It marks slots dirty that depend on these.
func (t *txn) applyBatch(batch []*slot) (out []api.Change) {
	for _, sl := range batch {
		t.choose(sl)
	}
	t.resolveConflicts(batch)
	for _, sl := range batch {
		t.releaseLoser(sl)
		if sl.isSuperseded() || sl.isRecreated() || t.policyRemoved(sl) {
			out = append(out, t.remove(sl))
		}
		if w := sl.pending; w != nil && t.store.stopDenied.Load() && w.refused() {
			out = append(out, t.remove(w.replaces))
			w.replaces.leave(w)
			w.replaces = nil
		}
	}
	free := t.unblocked(batch)
	moving := t.moving(batch, free)
	removed, successors := map[*slot]int{}, map[int]types.UID{}
	replaced := map[*slot]*slot{}
	for _, sl := range batch {
		if moving[sl] && sl.chosen != nil {
			replaced[sl] = sl.replacedSlot()
		}
	}
	for _, sl := range batch {
		if moving[sl] && sl.sent != nil {
			removed[sl] = len(out)
			if sl.role == roleLoser && !sl.ruling.winner.runsAsIdentity() {
				successors[len(out)] = sl.ruling.winner.first.Pod.UID
			}
			out = append(out, t.remove(sl))
		}
	}
	for _, sl := range batch {
		switch {
		case sl.chosen == nil && !moving[sl] && sl.isDeleted():
			out = append(out, t.delete(sl)...)
		case sl.chosen == nil || sl.clash != "":
		case moving[sl] && !t.store.mayAdd(sl):
			t.log.Error("a pod without a verdict was stopped before the workers; this is a fault of the agent",
				"source", sl.source.Name, "document", sl.chosen.ID, "uid", sl.chosen.Pod.UID)
		case moving[sl]:
			c := t.add(sl)
			if i, ok := removed[replaced[sl]]; ok && out[i].Replaces == "" {
				c.Replaces, out[i].Replaces = out[i].Old.UID, c.New.UID
				sl.sent.after = c.Replaces
			}
			out = append(out, c)
		case free[sl]:
			if c, ok := t.update(sl); ok {
				out = append(out, c)
			}
		}
		t.drop(sl)
	}
	for i, uid := range successors {
		out[i].Replaces = cmp.Or(out[i].Replaces, uid)
	}
	return out
}

// replacedSlot returns the slot whose pod the chosen pod of sl replaces: that of a source that has
// lost the conflict, else sl itself.
func (sl *slot) replacedSlot() *slot {
	if sl.pending != nil && sl.pending.replaces != nil {
		return sl.pending.replaces
	}
	return cmp.Or(sl.runningLoser(), sl)
}

// remove removes the slot's pod from the sync loop. A version that waits to replace the pod is
// looked at again.
func (t *txn) remove(sl *slot) api.Change {
	c := api.Change{Op: api.Remove, Old: sl.sent.mutated, Origin: sl.sent.origin, Restored: sl.sent.restored}
	delete(t.store.owner, sl.sent.pod.UID)
	t.freed = append(t.freed, sl.sent.pod.UID)
	t.markRefusedDirty(sl.sent.pod.UID)
	t.checkEmitted(sl.sent)
	if sl.sent.denied() {
		sl.lastDenied.uid, sl.lastDenied.known = sl.sent.pod.UID, sl.sent.known
	}
	sl.sent, sl.rejudge = nil, false
	if sl.first != nil && (sl.pending == nil || !sl.pending.stored) {
		t.changed = append(t.changed, sl.first)
	}
	if w := sl.successor; w != nil {
		t.markDirty(w.slot)
	}
	return c
}

// isRecreated reports whether the API server has another pod under the name of the sync loop's pod.
// The new pod is not a newer version of the old one: the old one is gone from the server, and is
// removed whatever policy decides about the new one.
func (sl *slot) isRecreated() bool {
	return sl.source.Kind == api.KindAPI && sl.sent != nil && sl.first != nil && sl.first.Pod.UID != sl.sent.pod.UID
}

// releaseLoser stops keeping a pod for the winner of a conflict if the pod's source no longer has
// it.
func (t *txn) releaseLoser(sl *slot) {
	if w := sl.successor; w != nil && sl.first == nil {
		t.detach(sl, w)
	}
}

// detach makes a version that waits no longer the successor of the slot's pod.
func (t *txn) detach(sl *slot, w *pendingVersion) {
	sl.leave(w)
	w.replaces = nil
	t.markDirty(w.slot)
	switch {
	case w.verdict != nil && !w.passes():
		t.announce(w)
	case w.hold() != nil && w.announcedAs != "":
		told := w.announcedAs
		w.announcedAs = ""
		t.notify(func(to Waits) { to.Passed(told) })
	}
}

// awaitedWinner returns the slot whose pod is to replace the pod that the sync loop has of sl. It
// returns nil if there is none, or if the sync loop already has the winner's pod.
func (sl *slot) awaitedWinner() *slot {
	if sl.role != roleLoser {
		return nil
	}
	// A winner that runs under another identity is only updated.
	if w := sl.ruling.winner; !w.runsAsIdentity() && (!w.runs() || !w.isSent()) {
		return w
	}
	return nil
}

// releases reports whether the slot's current UID is removed from the sync loop.
func releases(sl *slot) bool {
	return sl.sent != nil && (sl.chosen == nil || sl.chosen.Pod.UID != sl.sent.pod.UID)
}

// moving returns the slots whose UID changes: from none, to none, or to another. A slot that wants
// a UID that another slot keeps does not move: its pod runs on and the clash is shown.
func (t *txn) moving(batch []*slot, free map[*slot]bool) map[*slot]bool {
	moving := map[*slot]bool{}
	known := map[*slot]string{}
	// wanting are the slots that want a UID. behind are the slots whose pod is removed when the pod
	// of another slot, the key, is added.
	wanting, behind := map[types.UID][]*slot{}, map[*slot][]*slot{}
	for _, sl := range batch {
		known[sl], sl.clash = sl.clash, ""
		t.store.unrefuse(sl)
		if !free[sl] || (sl.sent != nil || sl.chosen == nil) && !releases(sl) {
			continue
		}
		moving[sl] = true
		if sl.chosen != nil {
			wanting[sl.chosen.Pod.UID] = append(wanting[sl.chosen.Pod.UID], sl)
		} else if next := sl.awaitedWinner(); next != nil {
			behind[next] = append(behind[next], sl)
		}
	}
	// A slot that does not move keeps its UID. A slot that wants that UID may not
	// move either.
	claimed := map[types.UID]*slot{}
	for queue := slices.Clip(batch); len(queue) > 0; queue = queue[1:] {
		sl := queue[0]
		switch {
		case !moving[sl]:
			continue
		case sl.chosen == nil:
			if next := sl.awaitedWinner(); next == nil || moving[next] {
				continue
			}
		default:
			uid := sl.chosen.Pod.UID
			holder := t.store.holder(sl, moving)
			if first := claimed[uid]; first != nil && first != sl && moving[first] {
				holder = first
			}
			if holder == nil {
				claimed[uid] = sl
				continue
			}
			t.refuseUID(sl, holder, known[sl])
		}
		delete(moving, sl)
		queue = append(queue, behind[sl]...)
		if sl.sent != nil {
			queue = append(queue, wanting[sl.sent.pod.UID]...)
		}
	}
	return moving
}

// holder returns another slot that has the UID of the slot's chosen pod, or waits with it, and does
// not move; nil if there is none.
func (s *store) holder(sl *slot, moving map[*slot]bool) *slot {
	uid := sl.chosen.Pod.UID
	if o := s.owner[uid]; o != nil && o != sl && !moving[o] {
		return o
	}
	if all := s.claims[uid]; len(all) > 0 && all[0] != sl && !moving[all[0]] {
		return all[0]
	}
	return nil
}

func (t *txn) refuseUID(sl, holder *slot, known string) {
	sl.clash = fmt.Sprintf("uid %s is already that of %s from source %q; give one of them another metadata.uid",
		sl.chosen.Pod.UID, holder.identity, holder.source.Name)
	if sl.clash != known && t.mayLog(sl.source) {
		t.log.Warn("document refused", "source", sl.source.Name, "document", sl.chosen.ID, "err", sl.clash)
	}
	uid := sl.chosen.Pod.UID
	sl.refused, t.store.refused[uid] = uid, append(t.store.refused[uid], sl)
}

// unrefuse clears the UID that the slot was refused.
func (s *store) unrefuse(sl *slot) {
	if sl.refused == "" {
		return
	}
	others := slices.DeleteFunc(s.refused[sl.refused], func(have *slot) bool { return have == sl })
	if s.refused[sl.refused] = others; len(others) == 0 {
		delete(s.refused, sl.refused)
	}
	sl.refused = ""
}

// mayAdd reports whether the slot's chosen pod has the verdict that it needs to be sent: policy
// must be asked about every pod before the sync loop gets it.
func (s *store) mayAdd(sl *slot) bool {
	return !s.judgesAll() || pod.IsMirror(sl.chosen.Pod) || sl.pending != nil && sl.pending.passes()
}

// add sends the slot's chosen pod to the sync loop for the first time.
func (t *txn) add(sl *slot) api.Change {
	e := sl.chosen
	firstSeen := t.now
	switch {
	case sl.pending != nil:
		firstSeen = sl.pending.since
	case e.Restored:
		firstSeen = e.FirstSeen
	}
	t.store.sends++
	sl.sent = &sent{seq: t.store.sends, origin: origin(sl, e, firstSeen), restored: e.Restored, known: sl.knownSince(e.Pod.UID, firstSeen)}
	t.setSent(sl.sent, e.Pod, sl.verdict())
	if sl.pending != nil {
		sl.sent.instance = sl.pending.instance
		if sl.sent.denied() {
			sl.sent.base = sl.pending.mergePatch.Hash()
		}
	}
	t.markSent(sl, e)
	t.store.owner[e.Pod.UID] = sl
	c := api.Change{Op: api.Add, New: sl.sent.mutated, Origin: sl.sent.origin, Restored: e.Restored, Verdict: sl.sent.verdict, Replaces: sl.after}
	sl.sent.after, sl.after = sl.after, ""
	return c
}

// update sends a newer version of a pod that the sync loop has, if the versions differ.
func (t *txn) update(sl *slot) (api.Change, bool) {
	e, old := sl.chosen, sl.sent
	if old == nil || old.pod == e.Pod {
		return api.Change{}, false
	}
	sl.sent = &sent{seq: old.seq, after: old.after, instance: old.instance, origin: origin(sl, e, old.origin.FirstSeen), known: old.known}
	if sl.pending != nil && sl.pending.judged {
		sl.sent.instance = sl.pending.instance
	}
	t.checkEmitted(old)
	t.setSent(sl.sent, e.Pod, cmp.Or(sl.verdict(), old.verdict))
	fields := t.mutatedDifference(old, sl.sent.mutated, e)
	switch {
	case old.denied() && sl.pending != nil:
		// The rejected pod is being judged again. Its wait continues.
	case sl.pending != nil && sl.pending.op != api.Reconcile, pod.Meaningful(fields):
		t.markSent(sl, e)
	default: // a change that has no effect after a restart is not written
		t.endWait(sl)
	}
	if fields == 0 {
		return api.Change{}, false
	}
	return api.Change{
		Op: operation(e.Pod, fields), Old: old.mutated, New: sl.sent.mutated, Changed: fields,
		Origin: sl.sent.origin, Verdict: sl.sent.verdict,
	}, true
}

// isDeleted reports whether the slot's own source has deleted the pod that the sync loop has, while
// the pod is kept until the winner of a conflict is admitted.
func (sl *slot) isDeleted() bool {
	return sl.role == roleLoser && sl.runs() && sl.first != nil && sl.first.Pod.UID == sl.sent.pod.UID &&
		sl.first.Pod.DeletionTimestamp != nil
}

// delete sends the deletion of the pod of a slot that has no chosen document.
func (t *txn) delete(sl *slot) []api.Change {
	sl.chosen = sl.first
	c, ok := t.update(sl)
	sl.chosen = nil
	if !ok {
		return nil
	}
	return []api.Change{c}
}

// markSent ends the wait of a version that was sent, and marks its record for writing if the disk
// does not have it already.
func (t *txn) markSent(sl *slot, e *documents.Entry) {
	if sl.pending == nil || !sl.pending.stored {
		t.changed = append(t.changed, e)
	}
	t.endWait(sl)
}

// operation classifies a difference in the same way as a kubelet.
func operation(p *v1.Pod, fields pod.Fields) api.Op {
	switch {
	case !pod.Meaningful(fields):
		return api.Reconcile
	case p.DeletionTimestamp != nil:
		return api.Delete
	}
	return api.UpdateOp
}

func origin(sl *slot, e *documents.Entry, firstSeen time.Time) api.Origin {
	return api.Origin{Source: sl.source.Name, Document: e.ID, Version: e.Version, FirstSeen: firstSeen}
}

// drop removes a slot that has no document and no pod.
func (t *txn) drop(sl *slot) {
	if sl.first == nil && sl.sent == nil {
		delete(sl.source.slots, sl.identity)
	}
}
