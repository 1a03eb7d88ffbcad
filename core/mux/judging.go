package mux

import (
	"cmp"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// question is a wait's, on its way to the gate.
type question struct {
	ticket uint64
	api.Question
}

// recalled is a question that was answered before a restart.
type recalled struct {
	api.Question
	verdict api.Verdict
}

// free are the slots of a batch that policy does not hold up. A slot whose
// document has gone elsewhere keeps its pod until that which takes its place
// is free.
func (t *merging) free(batch []*slot) map[*slot]bool {
	free := map[*slot]bool{}
	for _, sl := range batch {
		if sl.chosen != nil {
			free[sl] = t.let(sl)
		}
	}
	for _, sl := range batch {
		if sl.chosen == nil {
			sl.rejudge = sl.rejudge || sl.wait != nil && sl.sent != nil && sl.sent.denied()
			t.abandon(sl)
			t.unhold(sl)
		}
	}
	for _, sl := range batch {
		if sl.chosen == nil {
			free[sl] = sl.mayLeave(free)
		}
	}
	return free
}

// let reports whether what the slot should run may go to the sync loop. What
// needs a verdict first is parked, and the gate asked.
func (t *merging) let(sl *slot) bool {
	if !t.store.gated && !t.store.filtered || pod.IsMirror(sl.chosen.pod) {
		return true
	}
	if t.store.polices() && sl.sent != nil && sl.sent.denied() {
		t.reinstate(sl)
		t.rebase(sl)
		t.stand(sl)
		if w := sl.wait; w != nil {
			w.entry, w.pod = sl.chosen, sl.chosen.pod
		}
		return true
	}
	op, judged := sl.judged()
	if judged = judged && t.store.judges(sl, op); !judged {
		var filtered bool
		if op, filtered = t.filterable(sl); !filtered {
			t.abandon(sl)
			t.unhold(sl)
			t.recollect(sl.chosen)
			return true
		}
	}
	if w := sl.wait; w == nil || !w.isFor(sl.chosen.pod, op, judged) {
		told := sl.shownOn(op)
		t.abandon(sl)
		t.park(sl, op, judged, w)
		sl.wait.told = told
	}
	t.rebase(sl)
	w := sl.wait
	w.stale = w.stale || !sameContent(w.pod, sl.chosen.pod)
	w.entry, w.pod = sl.chosen, sl.chosen.pod
	if !w.passes() {
		if w.verdict != nil {
			t.unhold(sl)
		}
		return false
	}
	passes := t.offer(w)
	if w.stale && w.heldBack() {
		t.announce(w)
	}
	return passes
}

// polices reports whether everything that is new is put to the gate.
func (s *store) polices() bool { return s.gated && !s.updatesOnly }

// judges reports whether the slot's chosen version is put to the gate as that.
func (s *store) judges(sl *slot, op api.Op) bool {
	return s.polices() || s.gated && op == api.UpdateOp && sl.runs()
}

// shownOn takes from the wait of a slot under which UID it was announced, where
// that stays the one for the version that waits from now on, as op.
func (sl *slot) shownOn(op api.Op) types.UID {
	w := sl.wait
	if w == nil || sl.held == nil || op == api.Reconcile || w.told != w.beside() {
		return ""
	}
	told := w.told
	w.told = ""
	return told
}

// isFor reports whether this is the wait of a version of which the same is
// asked.
func (w *wait) isFor(p *v1.Pod, op api.Op, judged bool) bool {
	switch {
	case w.op != op || w.judged != judged:
		return false
	case judged:
		return w.pod == p || w.instance != "" && w.instance == judgedAs(p)
	}
	return w.pod.UID == p.UID
}

// judged reports whether what the slot should run needs a verdict, and as
// what. Deletion, grace and status are never judged, nor is what the sync loop
// has already.
func (sl *slot) judged() (api.Op, bool) {
	p, have := sl.chosen.pod, sl.sent
	switch {
	case have == nil || have.pod.UID != p.UID:
		return api.Add, true
	case p.DeletionTimestamp != nil, pod.SameInstance(have.pod, p):
		return "", false
	}
	return api.UpdateOp, true
}

// overruled reports whether a rejection that was handed on is not the last
// word any more: the document has changed or gone, or was judged again and the
// verdict is another. One of an API pod is final as long as the pod is there.
func (sl *slot) overruled() bool {
	if sl.sent == nil || !sl.sent.denied() || sl.stance == undecided {
		return false
	}
	if releases(sl) {
		return true
	}
	if pod.IsStatic(sl.sent.pod) && !pod.SameInstance(sl.sent.pod, sl.chosen.pod) {
		return true
	}
	w := sl.wait
	return w != nil && w.verdict != nil && !w.verdict.Same(sl.sent.verdict)
}

// pardoned reports whether policy has denied a pod of the node's own sources, before a
// restart, and there is no policy any more that could ever answer otherwise.
func (t *merging) pardoned(sl *slot) bool {
	return !t.store.polices() && sl.sent != nil && sl.sent.denied() && pod.IsStatic(sl.sent.pod)
}

// stand ends the wait of a rejected pod that was judged again with the same
// verdict.
func (t *merging) stand(sl *slot) {
	if w := sl.wait; w != nil && w.verdict != nil {
		sl.sent.verdict, sl.sent.base = w.verdict, w.base.Hash()
		t.settled(sl, sl.chosen)
	}
}

// park makes the slot's chosen version wait for a verdict or, where it is not
// judged, for the filter only, in the place of the one that waited before, nil
// for none.
func (t *merging) park(sl *slot, op api.Op, judged bool, before *wait) {
	w := &wait{slot: sl, entry: sl.chosen, pod: sl.chosen.pod, op: op, judged: judged, stale: true, since: t.now}
	if w.entry.restored {
		w.since = w.entry.firstSeen
	}
	w.known = sl.knownSince(w.pod.UID, w.since)
	if judged {
		w.instance = judgedAs(w.pod)
	}
	w.from, sl.rejudge = sl, false
	if !sl.runs() {
		w.from = t.predecessor(sl, before)
	}
	if w.from != nil {
		w.old = w.from.sent.pod
	}
	if w.from != nil && w.from != sl {
		w.from.successor = w
	}
	sl.wait = w
	t.store.parked[w] = true
	if op == api.Add {
		t.store.claims[w.pod.UID] = append(t.store.claims[w.pod.UID], sl)
	}
	w.base, w.unbased = sl.base(), sl.undecided()
	t.recall(w)
	if judged && w.verdict == nil {
		t.ask(w)
	} else {
		t.store.tickets++
	}
	w.seq = t.store.tickets
}

// judgedAs is pod.Instance, empty where that cannot be told.
func judgedAs(p *v1.Pod) string {
	instance, err := pod.Instance(p)
	if err != nil {
		return ""
	}
	return instance
}

// recollect takes from an entry what the disk had of how long it was held back.
func (t *merging) recollect(e *entry) *state.Suppressed {
	kept := e.suppressed
	if kept != nil {
		e.suppressed, t.changed = nil, append(t.changed, e)
	}
	return kept
}

// recall takes up what the disk had of how long the version was held back, and
// of what policy said of it.
func (t *merging) recall(w *wait) {
	kept := t.recollect(w.entry)
	if kept == nil || !t.store.filters(w.pod) {
		return
	}
	t.unhold(w.slot)
	w.slot.held = remembered(kept, t.now)
	w.slot.held.beside = w.beside()
	if w.judged && kept.Verdict != nil && kept.Verdict.Mutation.BaseHash() == w.base.Hash() {
		w.verdict = kept.Verdict
		t.recalled = append(t.recalled, recalled{w.question(), *w.verdict})
	}
}

// predecessor is the slot without a document whose pod runs until the new
// version of sl passes: the one its document has left, or that before it, if
// nothing has passed in between; nil if there is none. It has one successor.
func (t *merging) predecessor(sl *slot, before *wait) *slot {
	from := t.left[sl.chosen]
	if from != nil && !from.runs() && from.chosen == nil {
		before = from.wait
	}
	if (from == nil || !from.runs()) && before != nil {
		from = before.from
	}
	if from == nil || !from.runs() || from.chosen != nil {
		return nil
	}
	// Another source's pod gives way to a rival only, not to where that goes, and
	// one of this source to what its document is now, unless another has come.
	if from.source != sl.source && from.identity != sl.identity || from.source == sl.source && from.first != nil {
		return nil
	}
	if other := from.successor; other != nil && other.slot.chosen != nil {
		return nil
	}
	return from
}

// ask puts the question to the gate, once all else is done. An answer to an
// earlier one does not count any more.
func (t *merging) ask(w *wait) {
	t.store.tickets++
	w.askedAt = t.now
	if w.unbased {
		return
	}
	delete(t.store.asked, w.ticket)
	w.ticket = t.store.tickets
	t.store.asked[w.ticket] = w
	t.asked = append(t.asked, question{w.ticket, w.question()})
}

// askWaiting puts everything that waits to the gate again, in the order it
// began to.
func (t *merging) askWaiting() {
	for _, w := range t.store.waiting() {
		if w.judged {
			t.ask(w)
		}
	}
}

// askReaders asks again what waits by a verdict that has seen the node.
func (t *merging) askReaders() {
	t.askHeld(func(w *wait) bool { return w.verdict.ReadsNode })
}

// askHeld asks again some of what the gate holds or has denied, and is not being asked about.
func (t *merging) askHeld(some func(*wait) bool) {
	for _, w := range t.store.waiting() {
		if t.store.mayAskAgain(w) && some(w) {
			t.ask(w)
		}
	}
}

func anyPod(*v1.Pod) bool { return true }

// askDenied has some rejected pods of the node's own sources judged again.
func (t *merging) askDenied(some func(*v1.Pod) bool) {
	var denied []*slot
	for _, sl := range t.store.owner {
		switch {
		case !sl.staysDenied() || !some(sl.sent.pod):
		case sl.chosen == nil: // once it may run again
			sl.rejudge = true
		default:
			denied = append(denied, sl)
		}
	}
	slices.SortFunc(denied, func(a, b *slot) int { return cmp.Compare(a.sent.pod.UID, b.sent.pod.UID) })
	for _, sl := range denied {
		t.park(sl, api.Add, true, nil)
	}
}

// waiting are all waits in the order they began.
func (s *store) waiting() []*wait {
	waits := make([]*wait, 0, len(s.parked))
	for w := range s.parked {
		waits = append(waits, w)
	}
	slices.SortFunc(waits, func(a, b *wait) int { return cmp.Compare(a.seq, b.seq) })
	return waits
}

// abandon ends the wait of a slot: its version is not wanted any more, or
// needs no verdict.
func (t *merging) abandon(sl *slot) {
	w := sl.wait
	if w == nil {
		return
	}
	t.unpark(w)
	switch {
	case w.told == "":
	case w.ownStatus() && !t.store.ownedBeside(sl, w.told):
		t.tell(func(to Waits) { to.Gone(w.told) })
	default:
		t.tell(func(to Waits) { to.Passed(w.told) })
	}
}

// ownedBeside reports whether the sync loop knows another slot's pod by a UID.
func (s *store) ownedBeside(sl *slot, uid types.UID) bool {
	o := s.owner[uid]
	return o != nil && o != sl
}

// pass ends the wait of a slot whose version goes on to the sync loop.
func (t *merging) pass(sl *slot) {
	w := sl.wait
	if w == nil {
		return
	}
	t.unpark(w)
	if s := sl.held; s != nil {
		s.kept = s.kept && !w.stored
		t.unhold(sl)
	}
	if w.told != "" {
		t.tell(func(to Waits) { to.Passed(w.told) })
	}
}

func (t *merging) unpark(w *wait) {
	w.slot.wait, w.retryAt = nil, time.Time{}
	t.store.retries.set(w)
	delete(t.store.parked, w)
	delete(t.store.asked, w.ticket)
	if w.from != nil && w.from != w.slot && !w.stored {
		// Its record says what of the other slot was decided.
		t.changed = append(t.changed, w.entry)
	}
	w.from.leave(w)
	uid := w.pod.UID
	t.touchRefused(uid)
	claims := slices.DeleteFunc(t.store.claims[uid], func(sl *slot) bool { return sl == w.slot })
	if t.store.claims[uid] = claims; len(claims) == 0 {
		delete(t.store.claims, uid)
	}
}

// leave ends that the slot's pod is kept for w.
func (sl *slot) leave(w *wait) {
	if sl != nil && sl.successor == w {
		sl.successor = nil
	}
}

func (t *merging) tell(notice func(Waits)) { t.notices = append(t.notices, notice) }
