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

// question is a question about a pending version for the gate.
type question struct {
	ticket uint64
	api.Question
}

// recalled is a question with its verdict from before a restart.
type recalled struct {
	api.Question
	verdict api.Verdict
}

// unblocked returns the slots of a batch that policy does not hold up. The loser of a conflict
// keeps its pod until the winner's slot is unblocked.
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

// mayProceed reports whether the slot's chosen version may go to the sync loop. If the version
// needs a verdict first, mayProceed makes it pending and asks the gate.
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

// judgesAll reports whether every new version is put to the gate.
func (s *store) judgesAll() bool { return s.gated && !s.updatesOnly }

// judges reports whether the slot's chosen version is put to the gate with this operation.
func (s *store) judges(sl *slot, op api.Op) bool {
	return s.judgesAll() || s.gated && op == api.UpdateOp && sl.runs()
}

// takeAnnouncement removes and returns the UID under which the slot's pending version was
// announced. It returns the empty UID if the version that waits from now on, with operation op, is
// announced under another UID.
func (sl *slot) takeAnnouncement(op api.Op) types.UID {
	w := sl.pending
	if w == nil || sl.hold == nil || op == api.Reconcile || w.announcedAs != w.runningUID() {
		return ""
	}
	told := w.announcedAs
	w.announcedAs = ""
	return told
}

// isFor reports whether the pending version asks the same question about p.
func (w *pendingVersion) isFor(p *v1.Pod, op api.Op, judged bool) bool {
	switch {
	case w.op != op || w.judged != judged:
		return false
	case judged:
		return w.pod == p || w.instance != "" && w.instance == judgedAs(p)
	}
	return w.pod.UID == p.UID
}

// needsVerdict reports whether the slot's chosen version needs a verdict, and for which operation.
// Deletion, grace period and status are never judged, nor is a version that the sync loop already
// has.
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

// isSuperseded reports whether a rejection that was sent is no longer valid: the document has
// changed or gone, or a new verdict differs. The rejection of an API pod is final as long as the
// pod exists.
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

// policyRemoved reports whether policy denied a static pod before a restart and the gate no longer
// judges all pods: no policy could admit the pod.
func (t *txn) policyRemoved(sl *slot) bool {
	return !t.store.judgesAll() && sl.sent != nil && sl.sent.denied() && pod.IsStatic(sl.sent.pod)
}

// keepDenied ends the wait of a rejected pod that was judged again with the same verdict.
func (t *txn) keepDenied(sl *slot) {
	if w := sl.pending; w != nil && w.verdict != nil {
		sl.sent.verdict, sl.sent.base = w.verdict, w.mergePatch.Hash()
		t.markSent(sl, sl.chosen)
	}
}

// ask queues the question for the gate, which step sends after the changes. An answer to an earlier
// question is ignored from then on.
func (t *txn) ask(w *pendingVersion) {
	if w.awaitingMerge {
		w.item.Defer(t.now)
		return
	}
	t.asked = append(t.asked, question{t.store.pending.Ask(w.item, t.now), w.question()})
}

// askWaiting puts all versions that wait to the gate again, in the order in which they began to
// wait.
func (t *txn) askWaiting() {
	for _, w := range t.store.pending.All() {
		if w.judged {
			t.ask(w)
		}
	}
}

// askNodeWatchers asks the gate again about refused versions whose verdict depends on the node.
func (t *txn) askNodeWatchers() {
	t.askHeld(func(w *pendingVersion) bool { return w.verdict.ReadsNode })
}

// askHeld asks the gate again about some of the versions that it holds or has denied and that have
// no question under way.
func (t *txn) askHeld(some func(*pendingVersion) bool) {
	for _, w := range t.store.pending.All() {
		if w.mayAskAgain() && some(w) {
			t.ask(w)
		}
	}
}

func anyPod(*v1.Pod) bool { return true }

// askDenied puts some rejected static pods to the gate again.
func (t *txn) askDenied(some func(*v1.Pod) bool) {
	var denied []*slot
	for _, sl := range t.store.owner {
		switch {
		case !sl.staysDenied() || !some(sl.sent.pod):
		case sl.chosen == nil: // the pod is judged once the slot may run it again
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
