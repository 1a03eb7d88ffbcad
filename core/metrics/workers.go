package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Workers count what is done with pods.
type Workers struct {
	begun, running, containers prometheus.Histogram

	started, startErrors, orphaned prometheus.Counter

	restarted, containersStarted, containerErrors, sandboxErrors *prometheus.CounterVec

	worked, sandboxes *prometheus.HistogramVec

	codes *names
}

// podStart are a kubelet's buckets of how long pods take to start.
var podStart = []float64{0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600}

// maxCodes is how many codes of errors are counted apart. The runtime's part of the agent
// knows about a dozen.
const maxCodes = 32

// Workers adds their metrics.
func (m *Metrics) Workers() *Workers {
	w := &Workers{
		begun:       duration(kubelet, "pod_worker_start_duration_seconds", "Seconds from when a pod was first seen until it got a worker.", prometheus.DefBuckets),
		running:     duration(kubelet, "pod_start_duration_seconds", "Seconds from when a pod was first seen until it ran.", podStart),
		containers:  duration(kubelet, "containers_per_pod_count", "How many containers pods have, of each that got a worker.", prometheus.ExponentialBuckets(1, 2, 5)),
		started:     counter(kubelet, "started_pods_total", "Sandboxes that were to be made."),
		startErrors: counter(kubelet, "started_pods_errors_total", "Sandboxes that could not be made."),
		orphaned: counter(kubelet, "orphaned_runtime_pods_total",
			"Pods that only the runtime knew, and that were ended."),
		restarted: counters(kubelet, "restarted_pods_total",
			"Pods that came back under their UID while they were being ended.", "static"),
		containersStarted: counters(kubelet, "started_containers_total", "Containers that were to be started.", "container_type"),
		containerErrors:   counters(kubelet, "started_containers_errors_total", "Containers that could not be started, by the reason that their status shows.", "container_type", "code"),
		worked: durations(kubelet, "pod_worker_duration_seconds",
			"Seconds that one run of a worker took, by operation: create, update or sync of a pod that is to run, kill while its containers are stopped, terminated after they have stopped.",
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

// Began says that a pod of so many containers got a worker, and how long ago it was
// first seen; negative where it was seen before the agent started.
func (w *Workers) Began(since time.Duration, containers int) {
	w.containers.Observe(float64(containers))
	if since >= 0 {
		w.begun.Observe(since.Seconds())
	}
}

// Running says that a pod runs now which did not, and how long ago it was first
// seen; negative where it was seen before the agent started.
func (w *Workers) Running(since time.Duration) {
	if since >= 0 {
		w.running.Observe(since.Seconds())
	}
}

// ObserveSync says that a turn of a worker has ended, and what it did, of which there are
// few.
func (w *Workers) ObserveSync(operation string, took time.Duration) {
	w.worked.WithLabelValues(operation).Observe(took.Seconds())
}

// Restarted says that a pod is to be made again under its UID once it has ended.
func (w *Workers) Restarted(static bool) { w.restarted.WithLabelValues(isTrue(static)).Inc() }

// Orphaned says that a pod is ended that only the runtime knows.
func (w *Workers) Orphaned() { w.orphaned.Inc() }

// Sandbox says that a sandbox was made, or could not be.
func (w *Workers) Sandbox(handler string, took time.Duration, failed bool) {
	w.started.Inc()
	w.sandboxes.WithLabelValues(handler).Observe(took.Seconds())
	if failed {
		w.startErrors.Inc()
		w.sandboxErrors.WithLabelValues(handler).Inc()
	}
}

// containerType is what all containers are that are supported.
const containerType = "container"

// Starting says that a container is about to be started.
func (w *Workers) Starting() { w.containersStarted.WithLabelValues(containerType).Inc() }

// NotStarted says that it could not be. code is the reason its status shows.
func (w *Workers) NotStarted(code string) {
	w.containerErrors.WithLabelValues(containerType, w.codes.of(strings.ToValidUTF8(code, ""))).Inc()
}

// isTrue is a label as a kubelet writes it.
func isTrue(b bool) string {
	if b {
		return "true"
	}
	return ""
}
