package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	v1 "k8s.io/api/core/v1"
)

// Events counts the events about pods.
type Events struct {
	total  *prometheus.CounterVec
	owners Tenants
}

// Events adds the metric of events.
func (m *Metrics) Events(tenants Tenants) *Events {
	e := &Events{
		total:  counters(wardlet, "events_total", "Events about pods, by the tenant of the pod and by type: Normal or Warning.", "tenant", "type"),
		owners: tenants,
	}
	m.registry.MustRegister(e.total)
	return e
}

// Event counts an event about a pod.
func (e *Events) Event(p *v1.Pod, eventType, _, _ string) {
	if eventType != v1.EventTypeWarning {
		eventType = v1.EventTypeNormal
	}
	e.total.WithLabelValues(tenantName(e.owners.Of(p.Namespace)), eventType).Inc()
}
