package instrument

import (
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pod"
)

// Gate counts verdicts about pods.
type Gate struct {
	mux.Gate
	Meters *Meters
}

// Judge implements mux.Gate.
func (g Gate) Judge(q api.Question, answer func(api.Verdict)) {
	if pod.IsMirror(q.Pod) {
		g.Gate.Judge(q, answer) // no policy is asked
		return
	}
	began := time.Now()
	g.Gate.Judge(q, func(v api.Verdict) {
		g.Meters.verdict(api.HookAdmit, q.Pod.Namespace, string(v.Answer), began, v.Opinions)
		answer(v)
	})
}

// Filter counts verdicts about updates.
type Filter struct {
	Policies mux.Filter
	Meters   *Meters
}

// FilterChanged implements mux.Filter.
func (f Filter) FilterChanged() <-chan struct{} { return f.Policies.FilterChanged() }

// Filter implements mux.Filter.
func (f Filter) Filter(q api.FilterQuestion, answer func(api.FilterVerdict)) {
	began := time.Now()
	f.Policies.Filter(q, func(v api.FilterVerdict) {
		f.Meters.verdict(api.HookFilter, q.Pod.Namespace, string(v.Answer), began, v.Opinions)
		answer(v)
	})
}

// Connections counts verdicts about connections to pods.
type Connections struct {
	Policies interface {
		Connect(q api.Question, answer func(api.Verdict))
	}
	Meters *Meters
}

// Connect asks the policies; see policy.Engine.
func (c Connections) Connect(q api.Question, answer func(api.Verdict)) {
	began := time.Now()
	c.Policies.Connect(q, func(v api.Verdict) {
		c.Meters.verdict(api.HookConnect, q.Pod.Namespace, string(v.Answer), began, v.Opinions)
		answer(v)
	})
}

// Resolver counts the decisions about conflicts.
type Resolver struct {
	mux.Resolver
	Meters *Meters
}

// Resolve implements mux.Resolver.
func (r Resolver) Resolve(c api.Contest, answer func(api.Resolution)) {
	began := time.Now()
	r.Resolver.Resolve(c, func(x api.Resolution) {
		r.Meters.verdict(api.HookMerge, c.Identity.Namespace, string(x.Choice), began, nil)
		answer(x)
	})
}

// verdict counts a verdict about a question that was asked at began.
func (m *Meters) verdict(hook, namespace, answer string, began time.Time, opinions []api.Opinion) {
	m.Verdicts.Verdict(hook, m.Tenants.Of(namespace), answer, time.Since(began), opinions)
}
