package mux

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// changes compares what every touched slot should run with what the sync loop
// has of it, and settles the difference as far as policy lets it.
func (t *merging) changes() []api.Change {
	var out []api.Change
	for len(t.touched) > 0 {
		batch := t.batch()
		out = append(out, t.settle(batch)...)
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

// batch takes the touched slots, with those that can only be settled together
// with them: those that were refused a UID, those whose pod is kept until a
// touched slot's may take its place, and those of the same identity.
func (t *merging) batch() []*slot {
	for looked := 0; looked < len(t.touched); looked++ { //nolint:intrange // the list grows
		sl := t.touched[looked]
		if sl.wait != nil {
			t.touch(sl.wait.from)
			t.touchRefused(sl.wait.pod.UID)
		}
		if sl.sent != nil {
			t.touchRefused(sl.sent.pod.UID)
		}
		for _, src := range t.store.ordered {
			if src != sl.source {
				t.touch(src.slots[sl.identity])
			}
		}
	}
	batch := t.touched
	t.touched, t.met = nil, map[*slot]bool{}
	return batch
}

// touchRefused touches the slots that were refused a UID, which may be given up.
func (t *merging) touchRefused(uid types.UID) {
	for _, sl := range t.store.refused[uid] {
		t.touch(sl)
	}
}

// settle does what changes does for some slots. It touches those for which
// something follows from it.
func (t *merging) settle(batch []*slot) (out []api.Change) {
	for _, sl := range batch {
		before := sl.first
		sl.choose()
		if before != sl.first {
			t.changed = append(t.changed, sl.entries...)
		}
	}
	t.contend(batch)
	for _, sl := range batch {
		t.relinquish(sl)
		if sl.overruled() || sl.succeeded() || t.bereft(sl) || t.pardoned(sl) {
			out = append(out, t.remove(sl))
		}
		if w := sl.wait; w != nil && t.store.stopDenied.Load() && w.refused() {
			out = append(out, t.remove(w.from))
			w.from.leave(w)
			w.from = nil
		}
	}
	free := t.free(batch)
	moving := t.moving(batch, free)
	removed, successors := map[*slot]int{}, map[int]types.UID{}
	for _, sl := range batch {
		if moving[sl] && sl.sent != nil {
			removed[sl] = len(out)
			if sl.stance == outranked && !sl.contest.winner.stands() {
				successors[len(out)] = sl.contest.winner.first.pod.UID
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
			t.log.Error("a pod without a verdict was not handed on; this is a fault of the agent",
				"source", sl.source.Name, "document", sl.chosen.id, "uid", sl.chosen.pod.UID)
		case moving[sl]:
			from := t.replaced(sl)
			c := t.add(sl)
			if i, ok := removed[from]; ok && out[i].Replaces == "" {
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

// replaced is the slot whose pod the chosen one of sl takes the place of: the
// one its document has left for sl, else sl itself.
func (t *merging) replaced(sl *slot) *slot {
	if sl.wait != nil && sl.wait.from != nil {
		return sl.wait.from
	}
	return cmp.Or(t.left[sl.chosen], sl)
}

// remove takes from the sync loop what it has of the slot. A version that waits
// to take the place of the pod is looked at again.
func (t *merging) remove(sl *slot) api.Change {
	c := api.Change{Op: api.Remove, Old: sl.sent.final, Origin: sl.sent.origin, Restored: sl.sent.restored}
	delete(t.store.owner, sl.sent.pod.UID)
	t.freed = append(t.freed, sl.sent.pod.UID)
	t.touchRefused(sl.sent.pod.UID)
	t.takeBack(sl.sent)
	if sl.sent.denied() {
		sl.was.uid, sl.was.known = sl.sent.pod.UID, sl.sent.known
	}
	sl.sent, sl.rejudge = nil, false
	for _, e := range []*entry{sl.first, sl.heir} {
		if e != nil && e.slot != nil && (e.slot.wait == nil || !e.slot.wait.stored) {
			t.changed = append(t.changed, e)
		}
	}
	sl.heir = nil
	if w := sl.successor; w != nil {
		if !w.stored {
			t.changed = append(t.changed, w.entry)
		}
		t.touch(w.slot)
	}
	return c
}

// succeeded reports whether an API server has another pod under the name of the
// one the sync loop has. That is no newer version of it: the old one is gone
// there, whatever policy says of the new one.
func (sl *slot) succeeded() bool {
	return sl.source.Kind == api.KindAPI && sl.sent != nil && sl.first != nil && sl.first.pod.UID != sl.sent.pod.UID
}

// bereft reports whether the document of what runs of the slot is gone, and the one
// that has its name now is a newer version of something else that runs: that is what
// it takes the place of, and what has no document ends.
func (t *merging) bereft(sl *slot) bool {
	if !sl.runs() || sl.chosen == nil || sl.chosen.pod.UID == sl.sent.pod.UID || t.left[sl.chosen] == nil {
		return false
	}
	if w := sl.wait; w != nil && w.pod.UID == sl.chosen.pod.UID {
		return false // what was to take the place of that has moved
	}
	return sl.source.entries[sl.sent.origin.Document] == nil && t.predecessor(sl, nil) != nil
}

// relinquish ends that a pod is kept until another one is admitted: because its
// source no longer has it, where it is the rival in a contest, else because a
// document has it again.
func (t *merging) relinquish(sl *slot) {
	w := sl.successor
	if w == nil || (w.slot.source == sl.source) == (sl.first == nil) {
		return
	}
	t.part(sl, w)
}

// part has a version that waits not take the place of the slot's pod any more.
func (t *merging) part(sl *slot, w *wait) {
	sl.leave(w)
	w.from = nil
	t.changed = append(t.changed, w.entry)
	t.touch(w.slot)
	switch {
	case w.verdict != nil && !w.passes():
		t.announce(w)
	case w.suppressed() != nil && w.told != "":
		told := w.told
		w.told = ""
		t.tell(func(to Waits) { to.Passed(told) })
	}
}

// awaits is the slot whose pod is to take the place of what the sync loop has
// of this one, nil if there is none or it has it already.
func (sl *slot) awaits() *slot {
	switch {
	case sl.stance == outranked:
		// One that runs as something else is only updated.
		if w := sl.contest.winner; !w.stands() && (!w.runs() || !w.has()) {
			return w
		}
	case sl.stance == unopposed && sl.successor != nil:
		return sl.successor.slot
	}
	return nil
}

// releases reports whether the UID the sync loop has of the slot goes away.
func releases(sl *slot) bool {
	return sl.sent != nil && (sl.chosen == nil || sl.chosen.pod.UID != sl.sent.pod.UID)
}

// moving are the slots whose UID changes: from none, to none, or to another. A
// slot that wants a UID another one keeps does not move: what runs goes on and
// the clash is shown.
func (t *merging) moving(batch []*slot, free map[*slot]bool) map[*slot]bool {
	moving := map[*slot]bool{}
	known := map[*slot]string{}
	// wanting are the slots that want a UID, behind those whose pod goes when
	// that of another slot comes.
	wanting, behind := map[types.UID][]*slot{}, map[*slot][]*slot{}
	for _, sl := range batch {
		known[sl], sl.clash = sl.clash, ""
		t.store.unrefuse(sl)
		if !free[sl] || (sl.sent != nil || sl.chosen == nil) && !releases(sl) {
			continue
		}
		moving[sl] = true
		if sl.chosen != nil {
			wanting[sl.chosen.pod.UID] = append(wanting[sl.chosen.pod.UID], sl)
		} else if next := sl.awaits(); next != nil {
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
			if next := sl.awaits(); next == nil || moving[next] {
				continue
			}
		default:
			uid := sl.chosen.pod.UID
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

// holder is another slot that has the UID of the slot's chosen pod, or waits
// with it, and keeps it.
func (s *store) holder(sl *slot, moving map[*slot]bool) *slot {
	uid := sl.chosen.pod.UID
	if o := s.owner[uid]; o != nil && o != sl && !moving[o] {
		return o
	}
	if all := s.claims[uid]; len(all) > 0 && all[0] != sl && !moving[all[0]] {
		return all[0]
	}
	return nil
}

func (t *merging) refuseUID(sl, holder *slot, known string) {
	sl.clash = fmt.Sprintf("uid %s is already that of %s from source %q; give one of them another metadata.uid",
		sl.chosen.pod.UID, holder.identity, holder.source.Name)
	if sl.clash != known && t.mayTell(sl.source) {
		t.log.Warn("document refused", "source", sl.source.Name, "document", sl.chosen.id, "err", sl.clash)
	}
	uid := sl.chosen.pod.UID
	sl.refused, t.store.refused[uid] = uid, append(t.store.refused[uid], sl)
}

// unrefuse forgets that the slot was refused a UID.
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

// mayAdd reports whether the slot's chosen pod has what it needs to be sent:
// nothing is new to the sync loop that policy was not asked about.
func (s *store) mayAdd(sl *slot) bool {
	return !s.polices() || pod.IsMirror(sl.chosen.pod) || sl.wait != nil && sl.wait.passes()
}

// add sends the slot's chosen pod for the first time.
func (t *merging) add(sl *slot) api.Change {
	e := sl.chosen
	firstSeen := t.now
	switch {
	case sl.wait != nil:
		firstSeen = sl.wait.since
	case e.restored:
		firstSeen = e.firstSeen
	}
	t.store.sends++
	sl.sent = &sent{seq: t.store.sends, origin: origin(sl, e, firstSeen), restored: e.restored, known: sl.knownSince(e.pod.UID, firstSeen)}
	t.handOn(sl.sent, e.pod, sl.verdict())
	if sl.wait != nil {
		sl.sent.instance = sl.wait.instance
		if sl.sent.denied() {
			sl.sent.base = sl.wait.base.Hash()
		}
	}
	t.settled(sl, e)
	t.store.owner[e.pod.UID] = sl
	c := api.Change{Op: api.Add, New: sl.sent.final, Origin: sl.sent.origin, Restored: e.restored, Verdict: sl.sent.verdict, Replaces: sl.follows}
	sl.sent.after, sl.follows = sl.follows, ""
	return c
}

// update sends a newer version of a pod the sync loop has, if they differ.
func (t *merging) update(sl *slot) (api.Change, bool) {
	e, old := sl.chosen, sl.sent
	if old == nil || old.pod == e.pod {
		return api.Change{}, false
	}
	sl.sent = &sent{seq: old.seq, after: old.after, instance: old.instance, origin: origin(sl, e, old.origin.FirstSeen), known: old.known}
	if sl.wait != nil && sl.wait.judged {
		sl.sent.instance = sl.wait.instance
	}
	t.takeBack(old)
	t.handOn(sl.sent, e.pod, cmp.Or(sl.verdict(), old.verdict))
	fields := t.finalDifference(old, sl.sent.final, e)
	switch {
	case old.denied() && sl.wait != nil:
		// It is being judged again, and goes on to be.
	case sl.wait != nil && sl.wait.op != api.Reconcile, pod.Meaningful(fields):
		t.settled(sl, e)
	default: // what does not matter after a restart is not worth a write
		t.pass(sl)
	}
	if fields == 0 {
		return api.Change{}, false
	}
	return api.Change{
		Op: operation(e.pod, fields), Old: old.final, New: sl.sent.final, Changed: fields,
		Origin: sl.sent.origin, Verdict: sl.sent.verdict,
	}, true
}

// isDeleted reports whether the slot's own source wants what the sync loop has of
// it to end, although a rival may keep it until that is admitted.
func (sl *slot) isDeleted() bool {
	return sl.stance == outranked && sl.runs() && sl.first != nil && sl.first.pod.UID == sl.sent.pod.UID &&
		sl.first.pod.DeletionTimestamp != nil
}

// delete hands the deletion of a slot on that runs nothing else.
func (t *merging) delete(sl *slot) []api.Change {
	sl.chosen = sl.first
	c, ok := t.update(sl)
	sl.chosen = nil
	if !ok {
		return nil
	}
	return []api.Change{c}
}

// settled ends the wait of a version that was sent, and has it written if the
// disk does not have it already.
func (t *merging) settled(sl *slot, e *entry) {
	if sl.wait == nil || !sl.wait.stored {
		t.changed = append(t.changed, e)
	}
	t.pass(sl)
}

// operation classifies a difference as a kubelet does.
func operation(p *v1.Pod, fields pod.Fields) api.Op {
	switch {
	case !pod.Meaningful(fields):
		return api.Reconcile
	case p.DeletionTimestamp != nil:
		return api.Delete
	}
	return api.UpdateOp
}

func origin(sl *slot, e *entry, firstSeen time.Time) api.Origin {
	return api.Origin{Source: sl.source.Name, Document: e.id, Version: e.podVersion, FirstSeen: firstSeen}
}

// drop forgets a slot that holds nothing any more.
func (t *merging) drop(sl *slot) {
	if len(sl.entries) == 0 && sl.sent == nil {
		delete(sl.source.slots, sl.identity)
	}
}
