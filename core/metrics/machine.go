package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Shutdowns has the times of the last shutdown of the machine.
type Shutdowns struct{ began, ended prometheus.Gauge }

// Shutdowns adds the metrics of shutdowns, in a kubelet's names.
func (m *Metrics) Shutdowns() *Shutdowns {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Subsystem: kubelet, Name: name, Help: help})
	}
	s := &Shutdowns{
		began: gauge("graceful_shutdown_start_time_seconds", "When the last shutdown began that pods were ended for, 0 if there was none."),
		ended: gauge("graceful_shutdown_end_time_seconds", "When the pods had ended for the last shutdown, 0 if that was cancelled or goes on."),
	}
	m.registry.MustRegister(s.began, s.ended)
	return s
}

// Shutdown sets the times of the last shutdown; a zero time means none.
func (s *Shutdowns) Shutdown(began, ended time.Time) {
	set := func(g prometheus.Gauge, t time.Time) {
		if t.IsZero() {
			g.Set(0)
			return
		}
		g.Set(float64(t.UnixNano()) / 1e9)
	}
	set(s.began, began)
	set(s.ended, ended)
}

// OOMKills is the number of times that the kernel killed processes of a container because memory
// had run out.
type OOMKills struct {
	Namespace, Pod, Container string
	Kills                     int
}

// OOMKills adds the metric of kills. It calls read at each scrape. Only containers of pods that the
// node has should be in the result, which bounds the labels.
func (m *Metrics) OOMKills(read func() []OOMKills) {
	events := describe("container", "oom_events_total", "How often the kernel killed processes of a container because memory had run out.", "container", "namespace", "pod")
	m.add(func(tell tell) {
		for _, k := range read() {
			tell(events, prometheus.CounterValue, float64(k.Kills), k.Container, k.Namespace, k.Pod)
		}
	}, events)
}
