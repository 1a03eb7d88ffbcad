package gate

import (
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux"
)

// Filter is a filter that passes a new pod without asking policies if the pod has run since before
// the agent started: the mux calls such a pod new only because it has lost its memory of the pod.
type Filter struct {
	// Policies is the filter of the policies.
	Policies mux.Filter
	Adoption *Adoption
}

// FilterChanged implements mux.Filter.
func (f *Filter) FilterChanged() <-chan struct{} { return f.Policies.FilterChanged() }

// Filter implements mux.Filter. A question about a new pod waits until it is known which pods ran.
func (f *Filter) Filter(q api.FilterQuestion, answer func(api.FilterVerdict)) {
	if q.Op != api.Add {
		f.Policies.Filter(q, answer)
		return
	}
	f.Adoption.whenListed(func() { f.decide(q, answer) })
}

func (f *Filter) decide(q api.FilterQuestion, answer func(api.FilterVerdict)) {
	if _, runs := f.Adoption.ranOn(q.Pod.UID); runs {
		answer(api.FilterVerdict{Answer: api.Pass, Reason: api.ReasonAdopted})
		return
	}
	f.Policies.Filter(q, answer)
}
