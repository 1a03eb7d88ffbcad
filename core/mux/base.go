package mux

import (
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// base is what the answer to a contest makes of the document that it lets run,
// before that is judged; nil for nothing.
func (sl *slot) base() *pod.Mutation {
	if c := sl.contest; c != nil && c.winner == sl && c.resolution != nil {
		return c.resolution.Mutation
	}
	return nil
}

// undecided reports whether the answer to the slot's contest is still to come.
func (sl *slot) undecided() bool { return sl.contest != nil && sl.contest.pending }

// rebase has what waits, or was rejected, judged anew where another pod is made of
// it before that, as the answer to a contest comes or is another one. What runs
// goes on as it was admitted: a conflict is no reason to start it again.
func (t *merging) rebase(sl *slot) {
	if !t.store.polices() || sl.undecided() {
		return
	}
	base := sl.base()
	w := sl.wait
	switch {
	case w == nil:
		if sl.sent.denied() && pod.IsStatic(sl.sent.pod) && sl.chosen != nil && sl.sent.base != base.Hash() {
			t.park(sl, api.Add, true, nil)
		}
		return
	case !w.judged || !w.unbased && w.base.Hash() == base.Hash():
		return
	}
	w.base, w.unbased = base, false
	if held := sl.held; held != nil {
		held.asked, held.free = nil, nil
	}
	if w.verdict != nil {
		w.verdict = nil
		t.changed = append(t.changed, w.entry)
	}
	t.ask(w)
}

// complete makes the verdicts on what a contest's answer has made of documents
// those on the documents: with all that was changed of them. One that is adopted
// was not judged, and runs as it ran.
func (s *store) complete(given []answer[api.Verdict]) {
	for i := range given {
		v := &given[i].value
		if w := s.asked[given[i].ticket]; w != nil && v.Answer == api.Allow && v.Reason != api.ReasonAdopted {
			v.Mutation = w.base.Then(v.Mutation)
		}
	}
}
