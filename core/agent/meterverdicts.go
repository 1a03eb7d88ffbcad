package agent

import (
	"time"

	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pod"
)

// meteredGate counts verdicts about pods.
type meteredGate struct {
	mux.Gate
	meters *meters
}

// Judge implements mux.Gate.
func (g meteredGate) Judge(q pod.Question, answer func(pod.Verdict)) {
	if pod.IsMirror(q.Pod) {
		g.Gate.Judge(q, answer) // nobody is asked
		return
	}
	began := time.Now()
	g.Gate.Judge(q, func(v pod.Verdict) {
		g.meters.verdict(pod.HookAdmit, q.Pod.Namespace, string(v.Answer), began, v.Opinions)
		answer(v)
	})
}

// meteredFilter counts verdicts about updates.
type meteredFilter struct {
	filter mux.Filter
	meters *meters
}

// FilterChanged implements mux.Filter.
func (f meteredFilter) FilterChanged() <-chan struct{} { return f.filter.FilterChanged() }

// Filter implements mux.Filter.
func (f meteredFilter) Filter(q pod.FilterQuestion, answer func(pod.FilterVerdict)) {
	began := time.Now()
	f.filter.Filter(q, func(v pod.FilterVerdict) {
		f.meters.verdict(pod.HookFilter, q.Pod.Namespace, string(v.Answer), began, v.Opinions)
		answer(v)
	})
}

// meteredRules counts how conflicts are decided.
type meteredRules struct {
	mux.Resolver
	meters *meters
}

// Resolve implements mux.Resolver.
func (r meteredRules) Resolve(c pod.Contest, answer func(pod.Resolution)) {
	began := time.Now()
	r.Resolver.Resolve(c, func(x pod.Resolution) {
		r.meters.verdict(pod.HookMerge, c.Identity.Namespace, string(x.Choice), began, nil)
		answer(x)
	})
}

// verdict counts one that began to be sought at a time.
func (m *meters) verdict(hook, namespace, answer string, began time.Time, opinions []pod.Opinion) {
	m.verdicts.Verdict(hook, m.tenants.Of(namespace), answer, time.Since(began), opinions)
}
