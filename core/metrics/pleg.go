package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// PLEG measures the pod lifecycle event generator.
type PLEG struct {
	relists, intervals, inspections, lags prometheus.Histogram

	dropped, losses prometheus.Counter
	stream          prometheus.Gauge
}

// PLEG adds the metrics of the PLEG. lastSeen returns the start time of the newest full list, zero
// for none.
func (m *Metrics) PLEG(lastSeen func() time.Time) *PLEG {
	p := &PLEG{
		relists:     duration(kubelet, "pleg_relist_duration_seconds", "Seconds that a full list of the runtime's pods took.", prometheus.DefBuckets),
		intervals:   duration(kubelet, "pleg_relist_interval_seconds", "Seconds from the beginning of one full list to that of the next.", seconds),
		inspections: duration(kubelet, "pleg_pod_relist_duration_seconds", "Seconds until one pod had been looked at.", prometheus.DefBuckets),
		dropped:     counter(kubelet, "pleg_discard_events", "Events of pods that were dropped because the sync loop did not keep up."),
		stream: prometheus.NewGauge(prometheus.GaugeOpts{
			Subsystem: wardlet, Name: "pleg_stream_up", Help: "Whether the runtime's events are relied on: 1, or 0 while pods are listed every second.",
		}),
		losses: counter(wardlet, "pleg_stream_losses_total", "How often the stream of the runtime's events was lost while the agent relied on it."),
		lags: duration(wardlet, "pleg_event_lag_seconds",
			"Seconds from an event of the runtime until the change that it reports was delivered. Events older than a minute, or than their stream, are not counted.",
			prometheus.ExponentialBuckets(0.001, 2, 14)),
	}
	m.registry.MustRegister(p.relists, p.intervals, p.inspections, p.dropped, p.stream, p.losses, p.lags,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Subsystem: kubelet, Name: "pleg_last_seen_seconds", Help: "When the newest successful full list began, 0 if there was none.",
		}, func() float64 { return timestamp(lastSeen()) }))
	return p
}

// Relisted records the duration of a full list.
func (p *PLEG) Relisted(took time.Duration) { p.relists.Observe(took.Seconds()) }

// Interval records the time between two full lists.
func (p *PLEG) Interval(d time.Duration) { p.intervals.Observe(d.Seconds()) }

// Inspected records the duration of the inspection of one pod.
func (p *PLEG) Inspected(took time.Duration) { p.inspections.Observe(took.Seconds()) }

// Dropped records that n events were dropped.
func (p *PLEG) Dropped(n int) { p.dropped.Add(float64(n)) }

// StreamUp records whether the agent currently relies on the runtime's events.
func (p *PLEG) StreamUp(up bool) {
	if up {
		p.stream.Set(1)
		return
	}
	p.stream.Set(0)
	p.losses.Inc()
}

// Lag records the age of a runtime event when its consequences were delivered.
func (p *PLEG) Lag(d time.Duration) { p.lags.Observe(max(d, 0).Seconds()) }

// timestamp returns a time in the form of Prometheus, 0 for none.
func timestamp(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}
