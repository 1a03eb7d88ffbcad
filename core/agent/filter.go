package agent

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
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
	return &adoptedFilter{plane: plane, adoption: a.adoption}
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
func (f *adoptedFilter) Filter(q pod.FilterQuestion, answer func(pod.FilterVerdict)) {
	if q.Op != pod.Add {
		f.plane.Filter(q, answer)
		return
	}
	a := f.adoption
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ran == nil {
		a.waiting = append(a.waiting, func() { f.decide(q, answer) })
		return
	}
	f.decide(q, answer)
}

func (f *adoptedFilter) decide(q pod.FilterQuestion, answer func(pod.FilterVerdict)) {
	if f.runs(q.Pod.UID) {
		answer(pod.FilterVerdict{Answer: pod.Pass, Reason: pod.ReasonAdopted})
		return
	}
	f.plane.Filter(q, answer)
}

// runs reports whether the pod has run since before the start, and is not being
// ended.
func (f *adoptedFilter) runs(uid types.UID) bool {
	a := f.adoption
	if _, ran := a.ran[uid]; !ran || a.runtime.TerminationRequested(uid) {
		return false
	}
	pods, _ := a.runtime.Pods()
	return slices.ContainsFunc(pods, func(p status.ObservedPod) bool { return p.UID == uid && p.Active() })
}
