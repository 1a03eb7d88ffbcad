package agent

import (
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/metrics"
	"github.com/wardlet/wardlet/core/server"
)

// meters are where the parts of an agent count what happens. What is read when
// somebody asks for it is read from the parts themselves.
type meters struct {
	*metrics.Metrics
	tenants metrics.Tenants

	pleg       *metrics.PLEG
	operations *metrics.Operations
	workers    *metrics.Workers
	rejections *metrics.Rejections
	events     *metrics.Events
	cgroups    *metrics.Cgroups

	terminations *metrics.Terminations
	// verdicts is nil for an agent without policies.
	verdicts *metrics.Verdicts
	starts   *starts
}

// newMeters makes them, before anything that they measure. v2 is true where the node
// has cgroups of version 2.
func (a *Agent) newMeters(v2 bool) *meters {
	m := &meters{
		Metrics: metrics.New(a.node, server.NewVersion(a.version).Version, a.log),
		tenants: metrics.Tenants{Names: tenantNames(a.cfg.Tenants), Of: ownerOf(a.cfg.Tenants)},
	}
	m.pleg = m.PLEG(func() time.Time { return a.pleg.Listed() })
	m.operations, m.workers, m.rejections, m.events = m.Operations(), m.Workers(), m.Rejections(), m.Events(m.tenants)
	m.terminations, m.cgroups = m.Terminations(), m.Cgroups(cgroupVersion(v2))
	m.starts = newStarts(m.workers, time.Now())
	m.Pods(a.countPods)
	m.Sources(func() []api.SourceState { return a.mux.Sources() })
	m.Waits(m.tenants, func() []api.Waiting { return a.asking().List() }, func() []api.Conflict { return a.mux.Conflicts() })
	if a.cfg.HasPolicies() {
		m.verdicts = m.Verdicts()
		m.Policies(func() []api.PolicySet { return a.policies.Sets() })
	}
	return m
}

func cgroupVersion(v2 bool) int {
	if v2 {
		return 2
	}
	return 1
}

func tenantNames(tenants []config.Tenant) []string {
	names := make([]string, len(tenants))
	for i := range tenants {
		names[i] = tenants[i].Name
	}
	return names
}
