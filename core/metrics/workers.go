package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Workers measures the work on pods.
type Workers struct {
	begun, running, containers prometheus.Histogram

	started, startErrors, orphaned prometheus.Counter

	restarted, containersStarted, containerErrors, sandboxErrors *prometheus.CounterVec

	worked, sandboxes *prometheus.HistogramVec

	codes *names
}

// podStart has a kubelet's buckets for the start time of pods.
var podStart = []float64{0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600}

// maxCodes limits the error codes. The agent's runtime package has about a dozen.
const maxCodes = 32

// Workers adds the metrics of workers.
func (m *Metrics) Workers() *Workers {
	w := &Workers{
		begun:       duration(kubelet, "pod_worker_start_duration_seconds", "Seconds from when a pod was first seen until it got a worker.", prometheus.DefBuckets),
		running:     duration(kubelet, "pod_start_duration_seconds", "Seconds from when a pod was first seen until it ran.", podStart),
		containers:  duration(kubelet, "containers_per_pod_count", "The number of containers of each pod that got a worker.", prometheus.ExponentialBuckets(1, 2, 5)),
		started:     counter(kubelet, "started_pods_total", "Sandboxes that were to be made."),
		startErrors: counter(kubelet, "started_pods_errors_total", "Sandboxes that could not be made."),
		orphaned: counter(kubelet, "orphaned_runtime_pods_total",
			"Pods that only the runtime knew, and that were ended."),
		restarted: counters(kubelet, "restarted_pods_total",
			"Pods that came back under their UID while they were being ended.", "static"),
		containersStarted: counters(kubelet, "started_containers_total", "Containers that were to be started.", "container_type"),
		containerErrors:   counters(kubelet, "started_containers_errors_total", "Containers that could not be started, by the reason that their status shows.", "container_type", "code"),
		worked: durations(kubelet, "pod_worker_duration_seconds",
			"Seconds that one run of a worker took, by operation: \"create\", \"update\" or \"sync\" for a pod that is to run; \"kill\" while its containers are being stopped; \"terminated\" after they have stopped.",
			prometheus.DefBuckets, "operation_type"),
		sandboxes: durations(kubelet, "run_podsandbox_duration_seconds",
			"Seconds that making a sandbox took.", prometheus.DefBuckets, "runtime_handler"),
		sandboxErrors: counters(kubelet, "run_podsandbox_errors_total",
			"Sandboxes that could not be made, by the runtime's handler.", "runtime_handler"),
		codes: newNames(maxCodes),
	}
	m.registry.MustRegister(w.begun, w.running, w.containers, w.started, w.startErrors, w.orphaned, w.restarted,
		w.containersStarted, w.containerErrors, w.worked, w.sandboxes, w.sandboxErrors)
	return w
}

// Began records that a pod with so many containers got a worker. since is the time since the pod
// was first seen, negative if that was before the agent started.
func (w *Workers) Began(since time.Duration, containers int) {
	w.containers.Observe(float64(containers))
	if since >= 0 {
		w.begun.Observe(since.Seconds())
	}
}

// Running records that a pod has started to run. since is the time since the pod was first seen,
// negative if that was before the agent started.
func (w *Workers) Running(since time.Duration) {
	if since >= 0 {
		w.running.Observe(since.Seconds())
	}
}

// ObserveSync records a finished turn of a worker. operation is the kind of turn, of which there
// are few.
func (w *Workers) ObserveSync(operation string, took time.Duration) {
	w.worked.WithLabelValues(operation).Observe(took.Seconds())
}

// Restarted records that a pod is to be started again under its UID after it has terminated.
func (w *Workers) Restarted(static bool) { w.restarted.WithLabelValues(isTrue(static)).Inc() }

// Orphaned records the termination of a pod that is known only from the runtime.
func (w *Workers) Orphaned() { w.orphaned.Inc() }

// Sandbox records that a sandbox was created, or that its creation failed.
func (w *Workers) Sandbox(handler string, took time.Duration, failed bool) {
	w.started.Inc()
	w.sandboxes.WithLabelValues(handler).Observe(took.Seconds())
	if failed {
		w.startErrors.Inc()
		w.sandboxErrors.WithLabelValues(handler).Inc()
	}
}

// containerType is the type of all supported containers.
const containerType = "container"

// Starting records that a container is about to be started.
func (w *Workers) Starting() { w.containersStarted.WithLabelValues(containerType).Inc() }

// NotStarted records that a container could not be started. code is the reason in its status.
func (w *Workers) NotStarted(code string) {
	w.containerErrors.WithLabelValues(containerType, w.codes.of(strings.ToValidUTF8(code, ""))).Inc()
}

// isTrue returns a label value in a kubelet's form.
func isTrue(b bool) string {
	if b {
		return "true"
	}
	return ""
}
