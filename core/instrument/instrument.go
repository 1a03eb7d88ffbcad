package instrument

import (
	"log/slog"
	"time"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/metrics"
	"github.com/wardlet/wardlet/core/parts"
)

// Meters are the metrics that the parts of an agent update. Metrics that are read at a scrape come
// from the parts themselves.
type Meters struct {
	Metrics *metrics.Metrics
	Tenants metrics.Tenants

	Operations   *metrics.Operations
	Workers      *metrics.Workers
	Rejections   *metrics.Rejections
	Evictions    *metrics.Evictions
	Events       *metrics.Events
	Cgroups      *metrics.Cgroups
	Terminations *metrics.Terminations
	// Verdicts is nil for an agent without policies.
	Verdicts *metrics.Verdicts

	starts *starts
}

// Options configure the metrics.
type Options struct {
	Node, Version string
	Tenants       []config.Tenant
	// CgroupV2 is true if the node has cgroups of version 2.
	CgroupV2 bool
	// Policies is true for an agent with policies.
	Policies bool
	Logger   *slog.Logger
}

// New returns the meters. It must be called before the parts that use them are made.
func New(o Options) *Meters {
	version := 1
	if o.CgroupV2 {
		version = 2
	}
	m := metrics.New(o.Node, o.Version, o.Logger)
	tenants := metrics.Tenants{Names: make([]string, len(o.Tenants)), Of: parts.OwnerOf(o.Tenants)}
	for i := range o.Tenants {
		tenants.Names[i] = o.Tenants[i].Name
	}
	meters := &Meters{
		Metrics: m, Tenants: tenants, Operations: m.Operations(), Workers: m.Workers(), Rejections: m.Rejections(), Evictions: m.Evictions(),
		Events: m.Events(tenants), Cgroups: m.Cgroups(version), Terminations: m.Terminations(),
	}
	meters.starts = newStarts(meters.Workers, time.Now())
	if o.Policies {
		meters.Verdicts = m.Verdicts()
	}
	return meters
}
