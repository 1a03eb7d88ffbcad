package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Cgroups measures the time of operations on the cgroups of pods.
type Cgroups struct{ took *prometheus.HistogramVec }

// Cgroups adds the metrics of cgroups. version is the version of the node's cgroups, 1 or 2.
func (m *Metrics) Cgroups(version int) *Cgroups {
	c := &Cgroups{durations(kubelet, "cgroup_manager_duration_seconds",
		"Seconds that workers took to make a pod's cgroup (create), or to see that it is there, and to remove it (destroy).",
		prometheus.DefBuckets, "operation_type")}
	is := prometheus.NewGauge(prometheus.GaugeOpts{Subsystem: kubelet, Name: "cgroup_version", Help: "The version of the node's cgroups, 1 or 2."})
	is.Set(float64(version))
	m.registry.MustRegister(c.took, is)
	return c
}

// Created records the time for creating a pod's cgroup, or for finding that it exists.
func (c *Cgroups) Created(took time.Duration) {
	c.took.WithLabelValues("create").Observe(took.Seconds())
}

// Destroyed records the time for removing a pod's cgroup.
func (c *Cgroups) Destroyed(took time.Duration) {
	c.took.WithLabelValues("destroy").Observe(took.Seconds())
}
