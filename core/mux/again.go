package mux

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// Refused is a version that the gate does not let pass: it waits, or is rejected.
type Refused struct {
	// Pod is as its source has it.
	Pod     *v1.Pod
	Verdict *api.Verdict
}

// Refused returns the versions that the gate holds, or has denied and may judge again, in no order.
func (m *Mux) Refused() []Refused {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var all []Refused
	for w := range m.store.parked {
		if m.store.mayAskAgain(w) {
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

// JudgeAgain puts to the gate again what of these pods it has refused. It does not block.
func (m *Mux) JudgeAgain(uids []types.UID) {
	for _, uid := range uids {
		m.again.put(0, uid)
	}
}

// mayAskAgain reports whether the gate holds or has denied what waits, and is not being asked about it.
func (s *store) mayAskAgain(w *wait) bool {
	return w.judged && w.verdict != nil && w.verdict.Answer != api.Allow && s.asked[w.ticket] == nil
}

// staysDenied reports whether the slot's pod is rejected and of the node's own sources: one of an API server has failed for good.
func (sl *slot) staysDenied() bool {
	return sl.sent != nil && sl.sent.denied() && sl.wait == nil && pod.IsStatic(sl.sent.pod)
}

// askAgain asks again about pods that the gate has refused.
func (t *merging) askAgain(given []answer[types.UID]) {
	again := map[types.UID]bool{}
	for _, g := range given {
		again[g.value] = true
	}
	t.askHeld(func(w *wait) bool { return again[w.pod.UID] })
	t.askDenied(func(p *v1.Pod) bool { return again[p.UID] })
}
