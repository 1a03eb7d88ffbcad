package agent

import (
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux"
)

// filter is what may hold updates back, nil for an agent whose policies do not.
func (a *Agent) filter() mux.Filter {
	if a.policies == nil {
		return nil
	}
	plane, ok := any(a.policies).(mux.Filter)
	if !ok {
		return nil
	}
	return &adoptedFilter{plane: meteredFilter{plane, a.meters}, adoption: a.adoption}
}

// adoptedFilter is a filter that is not asked about a new pod which has run
// since before the agent started: that is the mux's way to say that its memory
// of the pod is lost.
type adoptedFilter struct {
	plane    mux.Filter
	adoption *adoption
}

// FilterChanged implements mux.Filter.
func (f *adoptedFilter) FilterChanged() <-chan struct{} { return f.plane.FilterChanged() }

// Filter implements mux.Filter. A question about a new pod waits until it is
// known what ran.
func (f *adoptedFilter) Filter(q api.FilterQuestion, answer func(api.FilterVerdict)) {
	if q.Op != api.Add {
		f.plane.Filter(q, answer)
		return
	}
	f.adoption.whenListed(func() { f.decide(q, answer) })
}

func (f *adoptedFilter) decide(q api.FilterQuestion, answer func(api.FilterVerdict)) {
	if _, runs := f.adoption.ranOn(q.Pod.UID); runs {
		answer(api.FilterVerdict{Answer: api.Pass, Reason: api.ReasonAdopted})
		return
	}
	f.plane.Filter(q, answer)
}
