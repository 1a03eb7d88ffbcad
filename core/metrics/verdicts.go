package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wardlet/wardlet/core/api"
)

// Verdicts counts the combined verdicts of policies, and their cost.
type Verdicts struct {
	total, fuel *prometheus.CounterVec

	took     *prometheus.HistogramVec
	policies *policyNames
}

// Verdicts adds the metrics of verdicts.
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

// Verdict records a verdict of the policies about a pod, its duration, and its known opinions.
// tenant is the pod's tenant, empty for none.
func (v *Verdicts) Verdict(hook, tenant, answer string, took time.Duration, opinions []api.Opinion) {
	if !knownAnswers[answer] {
		answer = other
	}
	v.total.WithLabelValues(tenantName(tenant), hook, answer).Inc()
	v.took.WithLabelValues(hook).Observe(took.Seconds())
	v.Spent(opinions)
}

// Spent records the cost of opinions that were not recorded with a verdict.
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

// knownAnswers are the answers of all hooks.
var knownAnswers = map[string]bool{
	string(api.Allow): true, string(api.Deny): true, string(api.Hold): true, string(api.Abstain): true,
	string(api.Pass): true, string(api.Defer): true, string(api.Drop): true,
	string(api.ChooseWinner): true, string(api.ChooseCurrent): true, string(api.ChooseNone): true,
}
