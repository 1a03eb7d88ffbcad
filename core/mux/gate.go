package mux

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/crashpoint"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// Gate decides which changes may pass. Without a Gate all changes pass.
type Gate interface {
	// Judge takes a question and returns at once. The gate calls answer once, from any goroutine
	// and at any time, or never if the gate stops first. answer does not block.
	Judge(q api.Question, answer func(api.Verdict))
	// Admitted reports that a version that still waits for the filter was admitted before a
	// restart. The gate is not asked about it again. Admitted does not block.
	Admitted(q api.Question, v api.Verdict)
	// Changed has a value when other policies are in force than before. All versions that were held
	// or denied are then judged again.
	Changed() <-chan struct{}
	// NodeChanged has a value when other pods are on the node than before. The versions whose held
	// or denied verdict depends on the node are then judged again.
	NodeChanged() <-chan struct{}
}

// Waits receives the versions that policy does not admit. The goroutine of Run calls it after the
// verdict is on the disk. Its methods must not block. A wait is identified by the UID of the pod
// whose status shows it: the pod that runs on, or the waiting pod if none runs.
type Waits interface {
	// Waits reports a version that waits. It is called again at every later verdict.
	Waits(w api.Waiting)
	// Passed reports that no version of the pod waits any more.
	Passed(uid types.UID)
	// Gone reports that no version waits any more of a pod that was never sent to the sync loop and
	// is not wanted any more.
	Gone(uid types.UID)
}

// noWaits is a Waits that does nothing.
type noWaits struct{}

func (noWaits) Waits(api.Waiting) {}
func (noWaits) Passed(types.UID)  {}
func (noWaits) Gone(types.UID)    {}

// persistVerdicts writes the verdicts that are about to take effect to the disk, before any of them
// takes effect. A verdict that cannot be written has no effect: its version is held and judged
// again later. With UpdatesOnly nothing is written, so a broken disk holds up no version.
func (m *Mux) persistVerdicts(given []answer[api.Verdict]) {
	m.store.addMergePatches(given)
	var records []state.Record
	for i := range given {
		if w, ok := m.store.pending.Of(given[i].ticket); ok && m.store.judgesAll() && m.store.takesEffect(w, given[i].value.Answer) {
			w.stored = true
			records = append(records, w.record(&given[i].value))
		}
	}
	if len(records) == 0 {
		return
	}
	crashpoint.Reached("verdict given")
	err := m.documents.Apply(records, nil)
	if err == nil {
		crashpoint.Reached("verdict stored")
		return
	}
	failed := failedWrites(err)
	m.log.Error("verdicts are not saved and do not count; their pods are held", "err", err)
	for i := range given {
		a := &given[i]
		w, ok := m.store.pending.Of(a.ticket)
		if !ok || !w.stored || !failed(state.DocumentID{Source: w.slot.source.Name, ID: w.entry.ID}) {
			continue
		}
		w.stored = false
		a.value = api.Verdict{
			Answer: api.Hold, Reason: api.ReasonVerdictNotKept, At: a.value.At, Sets: a.value.Sets,
			Message: "the verdict cannot be kept, so it does not count yet: " + err.Error(),
		}
	}
}

// takesEffect reports whether this answer results in a change that is sent to the sync loop.
func (s *store) takesEffect(w *pendingVersion, answer api.Answer) bool {
	switch answer {
	case api.Hold:
		return false
	case api.Deny:
		return w.running() == nil || s.stopDenied.Load() && w.stops()
	}
	return !s.filters(w.pod)
}

// judged records verdicts. It ignores a verdict whose question was asked again or whose version
// does not wait any more.
func (s *store) judged(given []answer[api.Verdict], t *txn, jitter func(time.Duration) time.Duration) outcome {
	var answered []*pendingVersion
	for _, a := range given {
		w, ok := s.pending.Of(a.ticket)
		if !ok {
			continue
		}
		t.resetHold(w, &a.value)
		w.verdict = &a.value
		s.pending.Answered(w.item, w.verdict, t.now, jitter)
		answered = append(answered, w)
		t.markDirty(w.slot)
	}
	out := outcome{changes: t.changes()}
	for _, w := range answered {
		if w.stored && (w.slot.sent == nil || w.slot.sent.pod != w.pod) {
			// The version was stored as sent, but it was not sent.
			w.stored, t.changed = false, append(t.changed, w.entry)
		}
		// An allowed version that still waits was refused its UID, or waits for the filter.
		if w.slot.pending == w && w.verdict.Answer != api.Allow {
			t.announce(w)
		}
	}
	return t.finish(out)
}

// announce announces a version that continues to wait, unless its UID is that of another pod, which
// has a status of its own.
func (t *txn) announce(w *pendingVersion) {
	before := w.announcedAs
	w.announcedAs, w.unannounced = w.shownAs(), false
	if w.running() == nil && t.store.ownedBeside(w.slot, w.announcedAs) {
		if w.announcedAs = ""; before != "" {
			t.notify(func(to Waits) { to.Passed(before) })
		}
		return
	}
	if before != "" && before != w.announcedAs {
		t.notify(func(to Waits) { to.Passed(before) })
	}
	waiting := w.waiting()
	t.notify(func(to Waits) { to.Waits(waiting) })
}

// announceFreed announces the waits that were not announced because another pod had their UID until
// now.
func (t *txn) announceFreed() {
	for _, uid := range t.freed {
		for _, sl := range t.store.claims[uid] {
			w := sl.pending
			if w.announcedAs == "" && (w.verdict != nil && w.verdict.Answer != api.Allow || w.isHeldBack()) {
				t.announce(w)
			}
		}
	}
	t.freed = nil
}

// Refused is a version that the gate does not let pass: it waits, or is rejected.
type Refused struct {
	// Pod is the source's version.
	Pod     *v1.Pod
	Verdict *api.Verdict
}

// Refused returns the versions that the gate holds, or has denied and may judge again, in no order.
func (m *Mux) Refused() []Refused {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var all []Refused
	for _, w := range m.store.pending.All() {
		if w.mayAskAgain() {
			all = append(all, Refused{w.pod, w.verdict})
		}
	}
	for _, sl := range m.store.owner {
		if sl.staysDenied() {
			all = append(all, Refused{sl.sent.pod, sl.sent.verdict})
		}
	}
	return all
}

// JudgeAgain puts the refused versions of these pods to the gate again. It does not block.
func (m *Mux) JudgeAgain(uids []types.UID) {
	for _, uid := range uids {
		m.again.put(0, uid)
	}
}

// mayAskAgain reports whether the gate holds or has denied the version and no question about it is
// under way.
func (w *pendingVersion) mayAskAgain() bool {
	asked, _ := w.item.Asked()
	return w.judged && w.verdict != nil && w.verdict.Answer != api.Allow && !asked
}

// staysDenied reports whether the slot has a rejected static pod that is not being judged. A
// rejected pod of an API server has failed for good.
func (sl *slot) staysDenied() bool {
	return sl.sent != nil && sl.sent.denied() && sl.pending == nil && pod.IsStatic(sl.sent.pod)
}

// askAgain asks the gate again about refused versions of the given pods.
func (t *txn) askAgain(given []answer[types.UID]) {
	again := map[types.UID]bool{}
	for _, g := range given {
		again[g.value] = true
	}
	t.askHeld(func(w *pendingVersion) bool { return again[w.pod.UID] })
	t.askDenied(func(p *v1.Pod) bool { return again[p.UID] })
}
