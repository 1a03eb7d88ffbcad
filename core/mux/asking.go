package mux

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux/hold"
	"github.com/wardlet/wardlet/core/pod"
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

// unblocked returns the slots of a batch that policy does not hold up. The loser of a
// conflict keeps its pod until that of the winner is free.
func (t *txn) unblocked(batch []*slot) map[*slot]bool {
	free := map[*slot]bool{}
	for _, sl := range batch {
		if sl.chosen != nil {
			free[sl] = t.mayProceed(sl)
		}
	}
	for _, sl := range batch {
		if sl.chosen == nil {
			sl.rejudge = sl.rejudge || sl.pending != nil && sl.sent != nil && sl.sent.denied()
			t.cancel(sl)
			t.endHold(sl)
		}
	}
	for _, sl := range batch {
		if sl.chosen == nil {
			free[sl] = sl.mayEnd(free)
		}
	}
	return free
}

// mayProceed reports whether what the slot should run may go to the sync loop. What
// needs a verdict first is pending, and the gate asked.
func (t *txn) mayProceed(sl *slot) bool {
	if !t.store.gated && !t.store.filtered || pod.IsMirror(sl.chosen.Pod) {
		return true
	}
	if t.store.judgesAll() && sl.sent != nil && sl.sent.denied() {
		t.requeueEvicted(sl)
		t.applyMerge(sl)
		t.keepDenied(sl)
		if w := sl.pending; w != nil {
			w.entry, w.pod = sl.chosen, sl.chosen.Pod
		}
		return true
	}
	op, judged := sl.needsVerdict()
	if judged = judged && t.store.judges(sl, op); !judged {
		var filtered bool
		if op, filtered = t.filterable(sl); !filtered {
			t.cancel(sl)
			t.endHold(sl)
			t.takeKeptHold(sl.chosen)
			return true
		}
	}
	if w := sl.pending; w == nil || !w.isFor(sl.chosen.Pod, op, judged) {
		told := sl.takeAnnouncement(op)
		t.cancel(sl)
		t.enqueue(sl, op, judged, w)
		sl.pending.announcedAs = told
	}
	t.applyMerge(sl)
	w := sl.pending
	w.unannounced = w.unannounced || !hold.SameContent(w.pod, sl.chosen.Pod)
	w.entry, w.pod = sl.chosen, sl.chosen.Pod
	if !w.passes() {
		if w.verdict != nil {
			t.endHold(sl)
		}
		return false
	}
	passes := t.passesFilter(w)
	if w.unannounced && w.isHeldBack() {
		t.announce(w)
	}
	return passes
}

// judgesAll reports whether everything that is new is put to the gate.
func (s *store) judgesAll() bool { return s.gated && !s.updatesOnly }

// judges reports whether the slot's chosen version is put to the gate as that.
func (s *store) judges(sl *slot, op api.Op) bool {
	return s.judgesAll() || s.gated && op == api.UpdateOp && sl.runs()
}

// takeAnnouncement takes from the pending version of a slot under which UID it was announced, where
// that stays the one for the version that waits from now on, as op.
func (sl *slot) takeAnnouncement(op api.Op) types.UID {
	w := sl.pending
	if w == nil || sl.hold == nil || op == api.Reconcile || w.announcedAs != w.runningUID() {
		return ""
	}
	told := w.announcedAs
	w.announcedAs = ""
	return told
}

// isFor reports whether the pending version asks the same about p.
func (w *pendingVersion) isFor(p *v1.Pod, op api.Op, judged bool) bool {
	switch {
	case w.op != op || w.judged != judged:
		return false
	case judged:
		return w.pod == p || w.instance != "" && w.instance == judgedAs(p)
	}
	return w.pod.UID == p.UID
}

// needsVerdict reports whether what the slot should run needs a verdict, and as
// what. Deletion, grace and status are never judged, nor is what the sync loop
// has already.
func (sl *slot) needsVerdict() (api.Op, bool) {
	p, have := sl.chosen.Pod, sl.sent
	switch {
	case have == nil || have.pod.UID != p.UID:
		return api.Add, true
	case p.DeletionTimestamp != nil, pod.SameInstance(have.pod, p):
		return "", false
	}
	return api.UpdateOp, true
}

// isSuperseded reports whether a rejection that was handed on is not the last
// word any more: the document has changed or gone, or was judged again and the
// verdict is another. One of an API pod is final as long as the pod is there.
func (sl *slot) isSuperseded() bool {
	if sl.sent == nil || !sl.sent.denied() || sl.role == rolePending {
		return false
	}
	if releases(sl) {
		return true
	}
	if pod.IsStatic(sl.sent.pod) && !pod.SameInstance(sl.sent.pod, sl.chosen.Pod) {
		return true
	}
	w := sl.pending
	return w != nil && w.verdict != nil && !w.verdict.Same(sl.sent.verdict)
}

// policyRemoved reports whether policy has denied a pod of the node's own sources, before a
// restart, and there is no policy any more that could ever answer otherwise.
func (t *txn) policyRemoved(sl *slot) bool {
	return !t.store.judgesAll() && sl.sent != nil && sl.sent.denied() && pod.IsStatic(sl.sent.pod)
}

// keepDenied ends what is pending of a rejected pod that was judged again with the same
// verdict.
func (t *txn) keepDenied(sl *slot) {
	if w := sl.pending; w != nil && w.verdict != nil {
		sl.sent.verdict, sl.sent.base = w.verdict, w.mergePatch.Hash()
		t.markSent(sl, sl.chosen)
	}
}

// ask puts the question to the gate, once all else is done. An answer to an
// earlier one does not count any more.
func (t *txn) ask(w *pendingVersion) {
	if w.awaitingMerge {
		w.item.Defer(t.now)
		return
	}
	t.asked = append(t.asked, question{t.store.pending.Ask(w.item, t.now), w.question()})
}

// askWaiting puts everything that waits to the gate again, in the order it
// began to.
func (t *txn) askWaiting() {
	for _, w := range t.store.pending.All() {
		if w.judged {
			t.ask(w)
		}
	}
}

// askNodeWatchers asks again what waits by a verdict that has seen the node.
func (t *txn) askNodeWatchers() {
	t.askHeld(func(w *pendingVersion) bool { return w.verdict.ReadsNode })
}

// askHeld asks again some of what the gate holds or has denied, and is not being asked about.
func (t *txn) askHeld(some func(*pendingVersion) bool) {
	for _, w := range t.store.pending.All() {
		if w.mayAskAgain() && some(w) {
			t.ask(w)
		}
	}
}

func anyPod(*v1.Pod) bool { return true }

// askDenied has some rejected pods of the node's own sources judged again.
func (t *txn) askDenied(some func(*v1.Pod) bool) {
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
		t.enqueue(sl, api.Add, true, nil)
	}
}
