package stats

import (
	"context"
	"net/http"
	"time"

	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// The families of /metrics/resource, with the names and labels of a kubelet. metrics-server reads
// them.
var (
	resourceLabels = []string{"container", "pod", "namespace"}

	nodeCPU    = counter("node_cpu_usage_seconds_total", "Cumulative cpu time consumed by the node in core-seconds")
	nodeMemory = gauge("node_memory_working_set_bytes", "Current working set of the node in bytes")
	nodeSwap   = gauge("node_swap_usage_bytes", "Current swap usage of the node in bytes")

	containerCPU       = counter("container_cpu_usage_seconds_total", "Cumulative cpu time consumed by the container in core-seconds", resourceLabels...)
	containerMemory    = gauge("container_memory_working_set_bytes", "Current working set of the container in bytes", resourceLabels...)
	containerSwap      = gauge("container_swap_usage_bytes", "Current amount of the container swap usage in bytes", resourceLabels...)
	containerSwapLimit = gauge("container_swap_limit_bytes", "Current amount of the container swap limit in bytes", resourceLabels...)
	containerStart     = gauge("container_start_time_seconds", "Start time of the container since unix epoch in seconds", resourceLabels...)

	podCPU    = counter("pod_cpu_usage_seconds_total", "Cumulative cpu time consumed by the pod in core-seconds", "pod", "namespace")
	podMemory = gauge("pod_memory_working_set_bytes", "Current working set of the pod in bytes", "pod", "namespace")
	podSwap   = gauge("pod_swap_usage_bytes", "Current amount of the pod swap usage in bytes", "pod", "namespace")

	resourceError = gauge("resource_scrape_error", "1 if there was an error while getting container metrics, 0 otherwise")
)

// Resource returns the handler of /metrics/resource.
func (s *Stats) Resource() http.Handler { return s.scrapes(s.collectResource) }

func (s *Stats) collectResource(ctx context.Context, out series) {
	summary, err := s.Summary(ctx, true)
	failed := 0.0
	if err != nil {
		failed = 1
		s.cfg.Logger.Warn("the resources of the node are not measured", "err", err)
	}
	out.add(&resourceError, time.Time{}, failed)
	if err != nil {
		return
	}
	out.cpu(&nodeCPU, summary.Node.CPU)
	out.memory(&nodeMemory, summary.Node.Memory)
	out.swap(&nodeSwap, nil, summary.Node.Swap)
	for i := range summary.Pods {
		p := &summary.Pods[i]
		name, namespace := p.PodRef.Name, p.PodRef.Namespace
		if i > 0 && name == summary.Pods[i-1].PodRef.Name && namespace == summary.Pods[i-1].PodRef.Namespace {
			continue // it replaces the one before, which has not ended, and its series would be the same
		}
		for j := range p.Containers {
			c := &p.Containers[j]
			labels := []string{c.Name, name, namespace}
			if start := c.StartTime.Time; start.Unix() > 0 {
				out.add(&containerStart, time.Time{}, float64(start.UnixNano())/second, labels...)
			}
			out.cpu(&containerCPU, c.CPU, labels...)
			out.memory(&containerMemory, c.Memory, labels...)
			out.swap(&containerSwap, &containerSwapLimit, c.Swap, labels...)
		}
		out.cpu(&podCPU, p.CPU, name, namespace)
		out.memory(&podMemory, p.Memory, name, namespace)
		out.swap(&podSwap, nil, p.Swap, name, namespace)
	}
}

func (s series) cpu(f *family, c *statsapi.CPUStats, labels ...string) {
	if c != nil {
		s.maybe(f, c.Time.Time, c.UsageCoreNanoSeconds, second, labels...)
	}
}

func (s series) memory(f *family, m *statsapi.MemoryStats, labels ...string) {
	if m != nil {
		s.maybe(f, m.Time.Time, m.WorkingSetBytes, 1, labels...)
	}
}

// swap adds the use and, if there is a family for it, the limit.
func (s series) swap(use, limit *family, w *statsapi.SwapStats, labels ...string) {
	if w == nil {
		return
	}
	s.maybe(use, w.Time.Time, w.SwapUsageBytes, 1, labels...)
	if limit != nil && w.SwapAvailableBytes != nil {
		s.maybe(limit, w.Time.Time, added(w.SwapAvailableBytes, w.SwapUsageBytes), 1, labels...)
	}
}
