package probe

import (
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// counts are the results of one probe of one container, as a kubelet counts them: until the probe ends
// with its pod.
type counts struct {
	mu      sync.Mutex
	results map[string]uint64
	// took are the numbers of probes by the upper bounds of their times, in seconds, and sum is their
	// time together.
	took map[float64]uint64
	sum  float64
	n    uint64
}

// add counts a result. As with a kubelet, only the times of successes count, and not what could not be
// carried out.
func (c *counts) add(ok bool, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.results == nil {
		c.results, c.took = map[string]uint64{}, map[float64]uint64{}
		for _, bound := range prometheus.DefBuckets {
			c.took[bound] = 0
		}
	}
	if !ok {
		c.results["failed"]++
		return
	}
	c.results["successful"]++
	c.n++
	c.sum += took.Seconds()
	for _, bound := range prometheus.DefBuckets {
		if took.Seconds() <= bound {
			c.took[bound]++
		}
	}
}

var (
	probeTotal = prometheus.NewDesc("prober_probe_total", "Cumulative number of a liveness, readiness or startup probe for a container by result.",
		[]string{"probe_type", "result", "container", "pod", "namespace", "pod_uid"}, nil)
	probeTime = prometheus.NewDesc("prober_probe_duration_seconds", "Duration in seconds for a probe response.",
		[]string{"probe_type", "container", "pod", "namespace"}, nil)
)

// Describe implements prometheus.Collector.
func (m *Manager) Describe(out chan<- *prometheus.Desc) { out <- probeTotal; out <- probeTime }

// Collect implements prometheus.Collector. The metrics are those of a kubelet.
func (m *Manager) Collect(out chan<- prometheus.Metric) {
	type one struct {
		*loop
		labels [4]string
		uid    string
	}
	var all []one
	m.mu.Lock()
	for uid, own := range m.pods {
		for k, l := range own.loops {
			all = append(all, one{l, [4]string{string(k.kind), k.container, own.pod.Name, own.pod.Namespace}, string(uid)})
		}
	}
	m.mu.Unlock()
	seen := map[[4]string]bool{}
	for _, l := range all {
		l.counts.mu.Lock()
		for result, n := range l.counts.results {
			out <- prometheus.MustNewConstMetric(probeTotal, prometheus.CounterValue, float64(n), l.labels[0], result, l.labels[1], l.labels[2], l.labels[3], l.uid)
		}
		// Two pods may have one name while one of them ends.
		if l.counts.n > 0 && !seen[l.labels] {
			seen[l.labels] = true
			out <- prometheus.MustNewConstHistogram(probeTime, l.counts.n, l.counts.sum, maps.Clone(l.counts.took), l.labels[:]...)
		}
		l.counts.mu.Unlock()
	}
}
