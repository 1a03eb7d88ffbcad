package metrics

import (
	"maps"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wardlet/wardlet/core/api"
)

// Policies adds the metrics of the sets of policies. It calls read at each scrape.
//
// The counters of a set's policies are removed with the policies, and restart at zero if a policy
// is loaded again. So this package sums their increases between scrapes, and keeps the sums after
// the policies are gone.
func (m *Metrics) Policies(read func() []api.PolicySet) {
	var (
		opinions = describe(wardlet, "policy_opinions_total", "What each policy has said, by its owner and its mode. Updates that pass and named winners "+
			"of conflicts count as allow, updates that are held back and conflicts that change nothing as hold, rejected ones as deny.",
			"tenant", "policy", "mode", "verdict")
		failures = describe(wardlet, "policy_failures_total", "How often the plugin of a policy failed, by what went wrong.", "tenant", "policy", "failure")

		ready      = describe(wardlet, "policy_set_ready", "Whether policies of this owner are in force.", "tenant")
		refused    = describe(wardlet, "policy_set_refused", "Whether what the owner's directory holds is not in force, because it is refused.", "tenant")
		probation  = describe(wardlet, "policy_set_probation", "Whether the set is on probation.", "tenant")
		generation = describe(wardlet, "policy_set_generation", "Number of the set in force; it grows with every reload.", "tenant")
		loaded     = describe(wardlet, "policy_set_loaded_timestamp_seconds", "When the set in force was loaded, 0 where there is none.", "tenant")
		violating  = describe(wardlet, "policy_violating_pods", "Pods that run and that the policy would not admit now, by the policy and its owner.", "tenant", "policy")
		evicted    = describe(wardlet, "policy_evicted_pods", "Pods that the policy has evicted since its content last changed, by the policy and its owner.", "tenant", "policy")
		waiting    = describe(wardlet, "policy_evictions_waiting", "Pods that the policy is to evict and that still run, by the policy and its owner.", "tenant", "policy")
		compared   = describe(wardlet, "policy_shadow_decisions", "Decisions that the candidate for the policy judged, too, without effect, by the policy and its owner.", "tenant", "policy")
		different  = describe(wardlet, "policy_shadow_different", "Decisions in which the answer of the candidate differed from that of the policy, by the policy and its owner.", "tenant", "policy")
		policies   = describe(wardlet, "policy_set_policies", "Policies of the set in force.", "tenant")
	)
	said := newTallies(&m.policies)
	m.add(func(tell tell) {
		sets := read()
		for i := range sets {
			s := &sets[i]
			tenant := tenantName(s.Tenant)
			tell.gauge(ready, bit(s.Ready), tenant)
			tell.gauge(refused, bit(s.Refused != ""), tenant)
			tell.gauge(probation, bit(s.Probation != nil), tenant)
			tell.gauge(generation, float64(s.Generation), tenant)
			tell.gauge(loaded, timestamp(s.Loaded), tenant)
			tell.gauge(policies, float64(len(s.Policies)), tenant)
			for name, x := range m.policies.reviews(tenant, s.Policies) {
				tell.gauge(violating, float64(x.Violating), tenant, name)
				tell.gauge(evicted, float64(x.Evicted), tenant, name)
				tell.gauge(waiting, float64(x.Waiting), tenant, name)
			}
			for name, x := range m.policies.shadows(tenant, s.Policies) {
				tell.gauge(compared, float64(x.Decisions), tenant, name)
				tell.gauge(different, float64(x.Different), tenant, name)
			}
		}
		for _, t := range said.take(sets) {
			if t.failure != "" {
				tell(failures, prometheus.CounterValue, float64(t.count), t.tenant, t.policy, t.failure)
			} else {
				tell(opinions, prometheus.CounterValue, float64(t.count), t.tenant, t.policy, t.mode, t.verdict)
			}
		}
	}, opinions, failures, ready, refused, probation, generation, loaded, policies, violating, evicted, waiting, compared, different)
}

// reviews returns the reviews of running pods, by the policies' names in metrics.
func (p *policyNames) reviews(tenant string, policies []api.PolicyState) map[string]api.PolicyReview {
	all := map[string]api.PolicyReview{}
	for i := range policies {
		if r := policies[i].Review; r != nil {
			name := p.policy(tenant, policies[i].Name)
			sum := all[name]
			sum.Violating, sum.Evicted, sum.Waiting = sum.Violating+r.Violating, sum.Evicted+r.Evicted, sum.Waiting+r.Waiting
			all[name] = sum
		}
	}
	return all
}

// shadows returns the comparisons of candidates, by the policies' names in metrics.
func (p *policyNames) shadows(tenant string, policies []api.PolicyState) map[string]api.PolicyShadow {
	all := map[string]api.PolicyShadow{}
	for i := range policies {
		if x := policies[i].Shadow; x != nil {
			name := p.policy(tenant, policies[i].Name)
			sum := all[name]
			sum.Decisions, sum.Different = sum.Decisions+x.Decisions, sum.Different+x.Different
			all[name] = sum
		}
	}
	return all
}

// tally identifies a counter of a policy: of a verdict, or a failure.
type tally struct{ tenant, policy, mode, verdict, failure string }

// counted is a tally with its count.
type counted struct {
	tally
	count uint64
}

// tallies sums the counters of policies. It is safe for concurrent use.
type tallies struct {
	names    *policyNames
	failures *names

	mu sync.Mutex
	// last has the counters of the policies in force at the last read, by their own names. total has
	// the values of the metrics.
	last, total map[tally]uint64
}

// maxFailures limits the kinds of failures. The sandbox has about a dozen.
const maxFailures = 32

func newTallies(names *policyNames) *tallies {
	return &tallies{names: names, failures: newNames(maxFailures), last: map[tally]uint64{}, total: map[tally]uint64{}}
}

// take adds the increases since the last call, and returns all sums.
func (t *tallies) take(sets []api.PolicySet) []counted {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := map[tally]uint64{}
	for i := range sets {
		for j := range sets[i].Policies {
			t.read(tenantName(sets[i].Tenant), &sets[i].Policies[j], now)
		}
	}
	t.last = now
	var all []counted
	for k, n := range t.total {
		all = append(all, counted{k, n})
	}
	return all
}

// read adds the increases of one policy's counters.
func (t *tallies) read(tenant string, p *api.PolicyState, now map[tally]uint64) {
	add := func(own, told tally, n uint64) {
		now[own] = n
		before := t.last[own]
		if n < before {
			before = 0 // the counter has restarted
		}
		if n > before {
			t.total[told] += n - before
		} else if _, known := t.total[told]; !known {
			t.total[told] = 0
		}
	}
	name, own := t.names.policy(tenant, p.Name), p.Name
	if p.Shadow != nil {
		own += " in shadow" // to distinguish it from the policy with the same name
	}
	for verdict, n := range map[string]uint64{
		string(api.Allow): p.Allowed, string(api.Deny): p.Denied, string(api.Hold): p.Held, string(api.Abstain): p.Abstained,
	} {
		add(tally{tenant: tenant, policy: own, verdict: verdict}, tally{tenant: tenant, policy: name, mode: p.Mode, verdict: verdict}, n)
	}
	if p.Shadow != nil {
		return // its failures have no effect
	}
	for _, failure := range slices.Sorted(maps.Keys(p.Failures)) {
		add(tally{tenant: tenant, policy: p.Name, failure: failure}, tally{tenant: tenant, policy: name, failure: t.failures.of(failure)}, p.Failures[failure])
	}
}
