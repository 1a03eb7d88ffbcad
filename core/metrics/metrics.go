package metrics

import (
	"log/slog"
	"net/http"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// The prefixes of names.
const (
	kubelet = "kubelet"
	wardlet = "wardlet"
)

// Operator is the tenant label for everything without a tenant. No tenant can have this name.
const Operator = "operator"

// Metrics has the metrics of one agent.
type Metrics struct {
	registry *prometheus.Registry
	log      *slog.Logger
	// policies limits the names of policies.
	policies policyNames
}

// New returns the metrics that every agent has, about the process and the version. version is the
// release.
func New(node, version string, log *slog.Logger) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), log: log}
	name := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Subsystem: kubelet, Name: "node_name", Help: "The node's name, as a label; always 1.",
	}, []string{"node"})
	name.WithLabelValues(node).Set(1)
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Subsystem: wardlet, Name: "build_info", Help: "Which program this is, as labels; always 1.",
	}, []string{"version", "goversion"})
	build.WithLabelValues(version, runtime.Version()).Set(1)
	m.registry.MustRegister(
		name, build,
		prometheus.NewGoCollector(),                                       //nolint:staticcheck // the package that is newer links database/sql
		prometheus.NewProcessCollector(prometheus.ProcessCollectorOpts{}), //nolint:staticcheck // as above
	)
	return m
}

// maxScrapes is the maximum number of concurrent scrapes.
const maxScrapes = 3

// Handler returns a handler that serves all metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(m.log.Handler(), slog.LevelWarn),
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: maxScrapes,
		DisableCompression:  true, // they are read from this node
	})
}

// seconds are the buckets for durations. They are the default buckets, which a kubelet uses, and
// longer ones, because this agent may wait longer than a kubelet.
var seconds = append(append([]float64(nil), prometheus.DefBuckets...), 30, 60, 120)

// duration makes a histogram of seconds.
func duration(subsystem, name, help string, buckets []float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Subsystem: subsystem, Name: name, Help: help, Buckets: buckets})
}

// durations makes histograms of seconds with labels.
func durations(subsystem, name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Subsystem: subsystem, Name: name, Help: help, Buckets: buckets}, labels)
}

// counter makes a counter.
func counter(subsystem, name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Subsystem: subsystem, Name: name, Help: help})
}

// counters makes counters with labels.
func counters(subsystem, name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Subsystem: subsystem, Name: name, Help: help}, labels)
}
