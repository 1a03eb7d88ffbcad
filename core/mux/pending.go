package mux

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux/documents"
	"github.com/wardlet/wardlet/core/mux/hold"
	"github.com/wardlet/wardlet/core/mux/pending"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// pendingVersion is a version that waits between merge and output: it has no verdict, or its
// verdict does not let it pass, or a filter holds it back.
type pendingVersion struct {
	slot *slot
	// entry and pod are the version that waits.
	entry *documents.Entry
	pod   *v1.Pod
	op    api.Op
	// judged: policy is asked, not only a filter. instance is the instance of the pod that is
	// judged, empty if policy is not asked or the instance is unknown.
	judged   bool
	instance string
	// mergePatch is the mutation by the resolution of the conflict, which is applied before the
	// version is judged; nil for none. awaitingMerge: the resolution is still pending, and the gate
	// is not asked before it is known.
	mergePatch    *pod.Mutation
	awaitingMerge bool
	// replaces is the slot whose pod runs until this version passes, nil for none. replacedPod is
	// that pod. With UpdateOp replaces is the slot itself.
	replaces    *slot
	replacedPod *v1.Pod
	// item is the pending version's place in the queue, with the question under way.
	item *pending.Item[*pendingVersion]
	// verdict is the newest verdict, nil before the first.
	verdict *api.Verdict
	// stored: the verdict is on the disk, as if the version had been sent.
	stored bool
	// announcedAs is the UID under which the wait was announced, empty if it was not announced.
	announcedAs types.UID
	// unannounced: a filter holds the version back, and the version or the filter's answer is newer
	// than the announcement.
	unannounced bool
	// since is the time when the pod was first seen. It starts anew when a pod is judged again.
	// known is the time since when there is a pod of this UID, for display.
	since time.Time
	known time.Time
}

// running returns the pod that runs on while this version waits, as the sync loop has it; nil if
// none does.
func (w *pendingVersion) running() *v1.Pod {
	if w.replaces == nil || w.replaces.sent == nil || w.replaces.sent.denied() || w.replaces.sent.pod.UID != w.replacedPod.UID {
		return nil
	}
	return w.replaces.sent.mutated
}

// passes reports whether the verdict lets the version go to the sync loop. A denied version goes
// there, too, if no pod runs on in its place, so that its rejection is reported.
func (w *pendingVersion) passes() bool {
	if w.verdict == nil {
		return !w.judged
	}
	return w.verdict.Answer == api.Allow || w.verdict.Answer == api.Deny && w.running() == nil
}

// refused reports whether policy keeps the version from replacing another pod that runs. A verdict
// that could not be written to the disk is not a refusal by policy.
func (w *pendingVersion) refused() bool {
	return w.stops() && w.verdict != nil && w.verdict.Answer != api.Allow &&
		w.verdict.Reason != api.ReasonVerdictNotKept && w.running() != nil
}

// stops reports whether the version is a newer one of the running pod's document, for which a
// kubelet would terminate that pod in any case. A pod of another source is terminated only for an
// admitted version.
func (w *pendingVersion) stops() bool {
	return w.op == api.Add && (w.replaces == nil || w.replaces.source == w.slot.source)
}

// question returns the question for the gate.
func (w *pendingVersion) question() api.Question {
	q := api.Question{Op: w.op, Pod: w.mergePatch.Of(w.pod), Old: w.running(), Origin: w.origin(), Base: w.mergePatch}
	if q.Old != nil && q.Old.UID != w.pod.UID {
		q.Replaces = q.Old.UID
	}
	return q
}

func (w *pendingVersion) origin() api.Origin { return origin(w.slot, w.entry, w.since) }

// record returns the record that must be on the disk when the version passes with this verdict.
func (w *pendingVersion) record(v *api.Verdict) state.Record {
	from := w.origin()
	if w.op == api.UpdateOp {
		from.FirstSeen = w.slot.sent.origin.FirstSeen
	}
	decided := &state.Decided{Origin: from, Verdict: v, After: w.slot.after}
	if old := w.running(); old != nil && w.op == api.Add {
		decided.After = old.UID
	} else if w.op == api.UpdateOp {
		decided.After = w.slot.sent.after
	}
	return state.Record{
		Source: from.Source, ID: w.entry.ID, Version: w.entry.Version, Pod: w.pod, FirstSeen: from.FirstSeen,
		Runs: true, Decided: decided,
	}
}

// waiting returns the wait as it is announced and shown.
func (w *pendingVersion) waiting() api.Waiting {
	if s := w.hold(); s != nil {
		return api.Waiting{
			Pod: w.pod, Running: w.running(), Origin: w.origin(),
			Verdict: s.Verdict(), RetryAt: s.NextAt(), Suppressed: true, Until: s.Until(),
		}
	}
	return api.Waiting{
		Pod: w.pod, Running: w.running(), Origin: w.origin(),
		Verdict: *w.verdict, RetryAt: w.item.DueAt(),
	}
}

// shownAs returns the UID of the pod whose status shows the wait.
func (w *pendingVersion) shownAs() types.UID {
	if running := w.running(); running != nil {
		return running.UID
	}
	return w.pod.UID
}

// ownStatus reports whether the wait was announced under the waiting pod's own UID because no pod
// runs in its place.
func (w *pendingVersion) ownStatus() bool { return w.announcedAs == w.pod.UID && w.op == api.Add }

// enqueue adds the slot's chosen version to the queue. It waits for a verdict or, if judged is
// false, only for the filter. before is the version that waited in its place, nil for none.
func (t *txn) enqueue(sl *slot, op api.Op, judged bool, before *pendingVersion) {
	w := &pendingVersion{slot: sl, entry: sl.chosen, pod: sl.chosen.Pod, op: op, judged: judged, unannounced: true, since: t.now}
	if w.entry.Restored {
		w.since = w.entry.FirstSeen
	}
	w.known = sl.knownSince(w.pod.UID, w.since)
	if judged {
		w.instance = judgedAs(w.pod)
	}
	w.replaces, sl.rejudge = sl, false
	if !sl.runs() {
		w.replaces = sl.findReplaced(before)
	}
	if w.replaces != nil {
		w.replacedPod = w.replaces.sent.pod
	}
	if w.replaces != nil && w.replaces != sl {
		w.replaces.successor = w
	}
	sl.pending, w.item = w, t.store.pending.Add(w)
	if op == api.Add {
		t.store.claims[w.pod.UID] = append(t.store.claims[w.pod.UID], sl)
	}
	w.mergePatch, w.awaitingMerge = sl.mergePatch(), sl.awaitsResolution()
	t.restoreHold(w)
	if judged && w.verdict == nil {
		t.ask(w)
	}
}

// takeKeptHold removes and returns the stored hold of an entry, nil for none.
func (t *txn) takeKeptHold(e *documents.Entry) *state.Suppressed {
	kept := e.Suppressed
	if kept != nil {
		e.Suppressed, t.changed = nil, append(t.changed, e)
	}
	return kept
}

// restoreHold restores the filter's hold on the version, and the verdict of policy, from the disk.
func (t *txn) restoreHold(w *pendingVersion) {
	kept := t.takeKeptHold(w.entry)
	if kept == nil || !t.store.filters(w.pod) {
		return
	}
	t.endHold(w.slot)
	w.slot.hold = hold.Restored(kept, w.runningUID(), t.now)
	if w.judged && kept.Verdict != nil && kept.Verdict.Mutation.BaseHash() == w.mergePatch.Hash() {
		w.verdict = kept.Verdict
		t.recalled = append(t.recalled, recalled{w.question(), *w.verdict})
	}
}

// findReplaced returns the slot whose pod runs until the new version of sl passes: the slot that
// has lost the conflict to sl, else the slot that the version before was to replace. It returns nil
// if no pod runs until then. A slot can have only one successor.
func (sl *slot) findReplaced(before *pendingVersion) *slot {
	from := sl.runningLoser()
	if from == nil && before != nil {
		from = before.replaces
	}
	if from == nil || !from.runs() || from.chosen != nil || from.first == nil {
		return nil
	}
	if other := from.successor; other != nil && other.slot.chosen != nil {
		return nil
	}
	return from
}

// cancel ends the wait of a slot's pending version: the version is not wanted any more, or needs no
// verdict.
func (t *txn) cancel(sl *slot) {
	w := sl.pending
	if w == nil {
		return
	}
	t.dequeue(w)
	switch {
	case w.announcedAs == "":
	case w.ownStatus() && !t.store.ownedBeside(sl, w.announcedAs):
		t.notify(func(to Waits) { to.Gone(w.announcedAs) })
	default:
		t.notify(func(to Waits) { to.Passed(w.announcedAs) })
	}
}

// endWait ends the wait of a slot's pending version because the version is sent to the sync loop.
func (t *txn) endWait(sl *slot) {
	w := sl.pending
	if w == nil {
		return
	}
	t.dequeue(w)
	if h := sl.hold; h != nil {
		h.Stored = h.Stored && !w.stored
		t.endHold(sl)
	}
	if w.announcedAs != "" {
		t.notify(func(to Waits) { to.Passed(w.announcedAs) })
	}
}

func (t *txn) dequeue(w *pendingVersion) {
	w.slot.pending = nil
	t.store.pending.Remove(w.item)
	w.replaces.leave(w)
	uid := w.pod.UID
	t.markRefusedDirty(uid)
	claims := slices.DeleteFunc(t.store.claims[uid], func(sl *slot) bool { return sl == w.slot })
	if t.store.claims[uid] = claims; len(claims) == 0 {
		delete(t.store.claims, uid)
	}
}

// leave clears the slot's successor if that is w.
func (sl *slot) leave(w *pendingVersion) {
	if sl != nil && sl.successor == w {
		sl.successor = nil
	}
}

// ownedBeside reports whether the sync loop has a pod of another slot with this UID.
func (s *store) ownedBeside(sl *slot, uid types.UID) bool {
	o := s.owner[uid]
	return o != nil && o != sl
}

// judgedAs returns pod.Instance, or the empty string if it fails.
func judgedAs(p *v1.Pod) string {
	instance, err := pod.Instance(p)
	if err != nil {
		return ""
	}
	return instance
}
