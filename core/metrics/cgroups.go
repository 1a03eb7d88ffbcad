package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Cgroups time what is done with the cgroups of pods.
type Cgroups struct{ took *prometheus.HistogramVec }

// Cgroups adds their metrics. version is that of the node's cgroups, 1 or 2.
func (m *Metrics) Cgroups(version int) *Cgroups {
	c := &Cgroups{durations(kubelet, "cgroup_manager_duration_seconds",
		"Seconds that workers took to make a pod's cgroup (create), or to see that it is there, and to remove it (destroy).",
		prometheus.DefBuckets, "operation_type")}
	is := prometheus.NewGauge(prometheus.GaugeOpts{Subsystem: kubelet, Name: "cgroup_version", Help: "The version of the node's cgroups, 1 or 2."})
	is.Set(float64(version))
	m.registry.MustRegister(c.took, is)
	return c
}

// Created says how long it took to see to it that a pod has its cgroup.
func (c *Cgroups) Created(took time.Duration) {
	c.took.WithLabelValues("create").Observe(took.Seconds())
}

// Destroyed says how long it took to remove one.
func (c *Cgroups) Destroyed(took time.Duration) {
	c.took.WithLabelValues("destroy").Observe(took.Seconds())
}
