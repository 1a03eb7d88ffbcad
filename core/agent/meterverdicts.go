package agent

import (
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pod"
)

// meteredGate counts verdicts about pods.
type meteredGate struct {
	mux.Gate
	meters *meters
}

// Judge implements mux.Gate.
func (g meteredGate) Judge(q api.Question, answer func(api.Verdict)) {
	if pod.IsMirror(q.Pod) {
		g.Gate.Judge(q, answer) // nobody is asked
		return
	}
	began := time.Now()
	g.Gate.Judge(q, func(v api.Verdict) {
		g.meters.verdict(api.HookAdmit, q.Pod.Namespace, string(v.Answer), began, v.Opinions)
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
func (f meteredFilter) Filter(q api.FilterQuestion, answer func(api.FilterVerdict)) {
	began := time.Now()
	f.filter.Filter(q, func(v api.FilterVerdict) {
		f.meters.verdict(api.HookFilter, q.Pod.Namespace, string(v.Answer), began, v.Opinions)
		answer(v)
	})
}

// meteredRules counts how conflicts are decided.
type meteredRules struct {
	mux.Resolver
	meters *meters
}

// Resolve implements mux.Resolver.
func (r meteredRules) Resolve(c api.Contest, answer func(api.Resolution)) {
	began := time.Now()
	r.Resolver.Resolve(c, func(x api.Resolution) {
		r.meters.verdict(api.HookMerge, c.Identity.Namespace, string(x.Choice), began, nil)
		answer(x)
	})
}

// verdict counts one that began to be sought at a time.
func (m *meters) verdict(hook, namespace, answer string, began time.Time, opinions []api.Opinion) {
	m.verdicts.Verdict(hook, m.tenants.Of(namespace), answer, time.Since(began), opinions)
}
