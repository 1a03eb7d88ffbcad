package mux

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux/documents"
	"github.com/wardlet/wardlet/core/pod"
)

// mergePatch returns the mutation with which the resolution of the slot's conflict changes the
// winner's document before it is judged. It returns nil if there is none.
func (sl *slot) mergePatch() *pod.Mutation {
	if c := sl.ruling; c != nil && c.winner == sl && c.Resolution != nil {
		return c.Resolution.Mutation
	}
	return nil
}

// awaitsResolution reports whether the answer to the slot's conflict is still to come.
func (sl *slot) awaitsResolution() bool { return sl.ruling != nil && sl.ruling.Pending }

// applyMerge puts a version that waits or was rejected to the gate again if the resolution of its
// conflict now changes it in another way. A running pod continues as it was admitted: a conflict
// does not restart it.
func (t *txn) applyMerge(sl *slot) {
	if !t.store.judgesAll() || sl.awaitsResolution() {
		return
	}
	base := sl.mergePatch()
	w := sl.pending
	switch {
	case w == nil:
		if sl.sent.denied() && pod.IsStatic(sl.sent.pod) && sl.chosen != nil && sl.sent.base != base.Hash() {
			t.enqueue(sl, api.Add, true, nil)
		}
		return
	case !w.judged || !w.awaitingMerge && w.mergePatch.Hash() == base.Hash():
		return
	}
	w.mergePatch, w.awaitingMerge = base, false
	if held := sl.hold; held != nil {
		held.Renew()
	}
	if w.verdict != nil {
		w.verdict = nil
		t.changed = append(t.changed, w.entry)
	}
	t.ask(w)
}

// addMergePatches adds to the mutation of each verdict the patch of the resolution. The resolution
// had changed the document with this patch before the pod was judged. An adopted pod was not
// judged, and continues as it ran.
func (s *store) addMergePatches(given []answer[api.Verdict]) {
	for i := range given {
		v := &given[i].value
		if w, ok := s.pending.Of(given[i].ticket); ok && v.Answer == api.Allow && v.Reason != api.ReasonAdopted {
			v.Mutation = w.mergePatch.Then(v.Mutation)
		}
	}
}

// mutated returns the source's pod with the mutation of a verdict, as it is sent to the sync loop.
// Without a verdict it returns the source's pod.
func mutated(p *v1.Pod, v *api.Verdict) *v1.Pod {
	if v == nil {
		return p
	}
	return v.Mutation.Of(p)
}

// setSent records that the sync loop has this version of a slot, with its verdict.
func (t *txn) setSent(s *sent, p *v1.Pod, v *api.Verdict) {
	s.pod, s.mutated, s.verdict = p, mutated(p, v), v
	if s.mutated == s.pod {
		return
	}
	s.origin.Instance = v.Mutation.Instance
	t.store.immutability.put(s.mutated)
}

// checkEmitted checks, in a test build, that a pod that policies have mutated was not changed
// afterwards.
func (t *txn) checkEmitted(s *sent) {
	if s.mutated != s.pod {
		t.checkUnchanged(s.mutated)
	}
}

// mutatedDifference returns the fields in which the version of an entry that the sync loop
// would get differs from the version that it has.
func (t *txn) mutatedDifference(have *sent, next *v1.Pod, e *documents.Entry) pod.Fields {
	if have.mutated == have.pod && next == e.Pod {
		return t.difference(have.pod, e)
	}
	return pod.Diff(have.mutated, next)
}

// mutated returns the pending version as it will be sent to the sync loop. A version that is not
// judged uses the verdict of the version before it.
func (w *pendingVersion) mutated() *v1.Pod {
	v := w.verdict
	if v == nil && w.op != api.Add && w.slot.sent != nil {
		v = w.slot.sent.verdict
	}
	return mutated(w.pod, v)
}

// resetHold resets the filter's decision about a version that it holds back if policies now mutate
// the version in another way. The filter has not seen the new pod, and that pod is not on the disk
// yet.
func (t *txn) resetHold(w *pendingVersion, v *api.Verdict) {
	held := w.slot.hold
	if held == nil || w.verdict == nil || w.verdict.Mutation.Hash() == v.Mutation.Hash() {
		return
	}
	held.Renew()
	t.changed = append(t.changed, w.entry)
}
