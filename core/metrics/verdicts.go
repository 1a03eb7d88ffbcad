package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wardlet/wardlet/core/api"
)

// Verdicts count what policies together have said, and what that took.
type Verdicts struct {
	total, fuel *prometheus.CounterVec

	took     *prometheus.HistogramVec
	policies *policyNames
}

// Verdicts adds their metrics.
func (m *Metrics) Verdicts() *Verdicts {
	v := &Verdicts{
		total: counters(wardlet, "policy_verdicts_total",
			"What the policies together have said about pods, updates and connections, by the tenant of the pod.", "tenant", "hook", "verdict"),
		fuel: counters(wardlet, "policy_fuel_total",
			"Fuel that policies took for verdicts, by the policy and its owner.", "tenant", "policy"),
		took: durations(wardlet, "policy_verdict_duration_seconds",
			"Seconds from a question to its verdict, waiting included.", prometheus.ExponentialBuckets(0.0001, 4, 11), "hook"),
		policies: &m.policies,
	}
	m.registry.MustRegister(v.total, v.fuel, v.took)
	return v
}

// Verdict says what policies have said of a pod of a tenant, empty for none, how
// long that took, and the opinions it was made from, as far as they are known.
func (v *Verdicts) Verdict(hook, tenant, answer string, took time.Duration, opinions []api.Opinion) {
	if !knownAnswers[answer] {
		answer = other
	}
	v.total.WithLabelValues(tenantName(tenant), hook, answer).Inc()
	v.took.WithLabelValues(hook).Observe(took.Seconds())
	v.Spent(opinions)
}

// Spent counts what opinions took, where that is not told with their verdict.
func (v *Verdicts) Spent(opinions []api.Opinion) {
	for i := range opinions {
		o := &opinions[i]
		if o.Fuel <= 0 {
			continue
		}
		owner := tenantName(o.Tenant)
		v.fuel.WithLabelValues(owner, v.policies.policy(owner, o.Policy)).Add(float64(o.Fuel))
	}
}

// knownAnswers are those of all hooks.
var knownAnswers = map[string]bool{
	string(api.Allow): true, string(api.Deny): true, string(api.Hold): true, string(api.Abstain): true,
	string(api.Pass): true, string(api.Defer): true, string(api.Drop): true,
	string(api.ChooseWinner): true, string(api.ChooseCurrent): true, string(api.ChooseNone): true,
}
