package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Operations counts the calls to the container runtime.
type Operations struct {
	calls, errors *prometheus.CounterVec
	took          *prometheus.HistogramVec
}

// Operations adds the metrics of runtime calls.
func (m *Metrics) Operations() *Operations {
	o := &Operations{
		calls:  counters(kubelet, "runtime_operations_total", "Calls to the container runtime.", "operation_type"),
		errors: counters(kubelet, "runtime_operations_errors_total", "Calls to the container runtime that failed.", "operation_type"),
		took: durations(kubelet, "runtime_operations_duration_seconds",
			"Seconds that calls to the container runtime took.", prometheus.ExponentialBuckets(.005, 2.5, 14), "operation_type"),
	}
	m.registry.MustRegister(o.calls, o.errors, o.took)
	return o
}

// Called records a finished call. operation is the kubelet's name for the CRI call, such as
// "create_container".
func (o *Operations) Called(operation string, took time.Duration, failed bool) {
	o.calls.WithLabelValues(operation).Inc()
	o.took.WithLabelValues(operation).Observe(took.Seconds())
	if failed {
		o.errors.WithLabelValues(operation).Inc()
	}
}
