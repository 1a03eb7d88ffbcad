package mux

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// final is a pod as the sync loop gets it with a verdict: what policies let pass
// may be another pod than the source's. Without a verdict it is that.
func final(p *v1.Pod, v *api.Verdict) *v1.Pod {
	if v == nil {
		return p
	}
	return v.Mutation.Of(p)
}

// handOn makes this version what the sync loop has of a slot, with its verdict.
func (t *merging) handOn(s *sent, p *v1.Pod, v *api.Verdict) {
	s.pod, s.final, s.verdict = p, final(p, v), v
	if s.final == s.pod {
		return
	}
	s.origin.Instance = v.Mutation.Instance
	t.store.seals.put(s.final)
}

// takeBack checks, in a test build, that what policies have made of a pod was
// not changed by anybody else.
func (t *merging) takeBack(s *sent) {
	if s.final != s.pod {
		t.unseal(s.final)
	}
}

// finalDifference is in what a version of an entry, as the sync loop would get
// it, differs from what the sync loop has.
func (t *merging) finalDifference(have *sent, next *v1.Pod, e *entry) pod.Fields {
	if have.final == have.pod && next == e.pod {
		return t.difference(have.pod, e)
	}
	return pod.Diff(have.final, next)
}

// final is the version that waits as the sync loop will get it. One that is not
// judged goes on with the verdict of what it follows.
func (w *wait) final() *v1.Pod {
	v := w.verdict
	if v == nil && w.op != api.Add && w.slot.sent != nil {
		v = w.slot.sent.verdict
	}
	return final(w.pod, v)
}

// remade resets what a filter has decided about a version that it holds back, if
// policies now make another pod of it. The filter has not seen that pod, and it
// is not on the disk yet.
func (t *merging) remade(w *wait, v *api.Verdict) {
	held := w.slot.held
	if held == nil || w.verdict == nil || w.verdict.Mutation.Hash() == v.Mutation.Hash() {
		return
	}
	held.asked, held.free = nil, nil
	t.changed = append(t.changed, w.entry)
}
