package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wardlet/wardlet/core/pod"
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
			"What the policies together have said about pods and updates, by the tenant of the pod.", "tenant", "hook", "verdict"),
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
func (v *Verdicts) Verdict(hook, tenant, answer string, took time.Duration, opinions []pod.Opinion) {
	if !knownAnswers[answer] {
		answer = other
	}
	v.total.WithLabelValues(tenantName(tenant), hook, answer).Inc()
	v.took.WithLabelValues(hook).Observe(took.Seconds())
	v.Spent(opinions)
}

// Spent counts what opinions took, where that is not told with their verdict.
func (v *Verdicts) Spent(opinions []pod.Opinion) {
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
	string(pod.Allow): true, string(pod.Deny): true, string(pod.Hold): true, string(pod.Abstain): true,
	string(pod.Pass): true, string(pod.Defer): true, string(pod.Drop): true,
	string(pod.ChooseWinner): true, string(pod.ChooseCurrent): true, string(pod.ChooseNone): true,
}
