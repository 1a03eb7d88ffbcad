package metrics

import (
	"github.com/wardlet/wardlet/core/api"
)

// Tenants are the owners of pods.
type Tenants struct {
	// Names has the names of all tenants.
	Names []string
	// Of returns the tenant of a namespace, empty for none.
	Of func(namespace string) string
}

// all returns the names of all owners in metrics.
func (t Tenants) all() []string { return append([]string{Operator}, t.Names...) }

// The reasons why a version of a pod waits.
const (
	waitHeld       = "held"
	waitDenied     = "denied"
	waitSuppressed = "suppressed"
	waitUnjudged   = "unjudged"
)

// Waits adds the metrics of waiting versions of pods, and of conflicts. It calls waits and
// conflicts at each scrape.
func (m *Metrics) Waits(tenants Tenants, waits func() []api.Waiting, conflicts func() []api.Conflict) {
	var (
		pods = describe(wardlet, "waiting_pods", "Pods that policy or a filter lets not begin, or has not judged yet, "+
			"by the tenant of the pod.", "tenant", "wait")
		updates = describe(wardlet, "waiting_updates", "Newer versions of pods that policy or a filter does not let pass, or has not judged yet; "+
			"the older ones run on. By the tenant of the pod.", "tenant", "wait")
		contested = describe(wardlet, "conflicts", "Names of pods that more than one document claims, by the tenant of the pod.", "tenant")
	)
	m.add(func(tell tell) {
		type kind struct{ tenant, wait string }
		fresh, newer, claimed := map[kind]int{}, map[kind]int{}, map[string]int{}
		for _, w := range waits() {
			k := kind{tenantName(tenants.Of(w.Pod.Namespace)), waitOf(&w)}
			if w.Running == nil {
				fresh[k]++
			} else {
				newer[k]++
			}
		}
		for _, c := range conflicts() {
			claimed[tenantName(tenants.Of(c.Namespace))]++
		}
		for _, tenant := range tenants.all() {
			for _, wait := range []string{waitHeld, waitDenied, waitSuppressed, waitUnjudged} {
				tell.gauge(pods, float64(fresh[kind{tenant, wait}]), tenant, wait)
				tell.gauge(updates, float64(newer[kind{tenant, wait}]), tenant, wait)
			}
			tell.gauge(contested, float64(claimed[tenant]), tenant)
		}
	}, pods, updates, contested)
}

// waitOf returns the reason why a version waits.
func waitOf(w *api.Waiting) string {
	switch {
	case w.Suppressed:
		return waitSuppressed
	case w.Verdict.Answer == api.Deny:
		return waitDenied
	case w.Verdict.Answer == "" && w.Asked != nil:
		return waitUnjudged
	}
	return waitHeld
}
