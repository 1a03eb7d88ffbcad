package metrics

import "github.com/prometheus/client_golang/prometheus"

// Evictions counts the pods that were evicted because they or the node ran out of a resource.
type Evictions struct{ total *prometheus.CounterVec }

// Evictions adds the metric of evictions.
func (m *Metrics) Evictions() *Evictions {
	e := &Evictions{counters(kubelet, "evictions", "Pods that were evicted, by the signal whose threshold was met.", "eviction_signal")}
	m.registry.MustRegister(e.total)
	return e
}

// Evicted counts an evicted pod. signal is one of a few values, which no pod chooses.
func (e *Evictions) Evicted(signal string) { e.total.WithLabelValues(signal).Inc() }
