package fakecri

import (
	"context"
	"maps"
	"slices"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// SetStats sets the statistics of a container. The attributes are those of the container.
func (s *Server) SetStats(id string, stats *runtimeapi.ContainerStats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats[id] = stats
}

// SetSandboxStats sets the statistics of a sandbox. Its containers are added to them.
func (s *Server) SetSandboxStats(id string, stats *runtimeapi.LinuxPodSandboxStats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sandboxStats[id] = stats
}

// ListPodSandboxStats returns the statistics of all sandboxes that are ready, with those of their
// running containers.
func (s runtimeService) ListPodSandboxStats(context.Context, *runtimeapi.ListPodSandboxStatsRequest) (*runtimeapi.ListPodSandboxStatsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := &runtimeapi.ListPodSandboxStatsResponse{}
	for _, id := range slices.Sorted(maps.Keys(s.sandboxes)) {
		box := s.sandboxes[id]
		if !box.ready {
			continue
		}
		known := s.sandboxStats[id]
		stats := &runtimeapi.LinuxPodSandboxStats{Cpu: known.GetCpu(), Memory: known.GetMemory(), Network: known.GetNetwork(), Process: known.GetProcess(), Io: known.GetIo()}
		stats.Containers = s.containerStats(func(c *container) bool { return c.sandbox == box })
		answer.Stats = append(answer.Stats, &runtimeapi.PodSandboxStats{
			Attributes: &runtimeapi.PodSandboxAttributes{Id: id, Metadata: box.config.GetMetadata(), Labels: box.config.GetLabels(), Annotations: box.config.GetAnnotations()},
			Linux:      stats,
		})
	}
	return answer, nil
}

// ListContainerStats returns the statistics of all running containers.
func (s runtimeService) ListContainerStats(context.Context, *runtimeapi.ListContainerStatsRequest) (*runtimeapi.ListContainerStatsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &runtimeapi.ListContainerStatsResponse{Stats: s.containerStats(func(*container) bool { return true })}, nil
}

func (s *Server) containerStats(wanted func(*container) bool) (all []*runtimeapi.ContainerStats) {
	for _, id := range slices.Sorted(maps.Keys(s.containers)) {
		c := s.containers[id]
		s.settle(c)
		if !wanted(c) || c.state != runtimeapi.ContainerState_CONTAINER_RUNNING {
			continue
		}
		known := s.stats[id]
		all = append(all, &runtimeapi.ContainerStats{
			Attributes: &runtimeapi.ContainerAttributes{Id: id, Metadata: c.config.GetMetadata(), Labels: c.config.GetLabels(), Annotations: c.config.GetAnnotations()},
			Cpu:        known.GetCpu(), Memory: known.GetMemory(), WritableLayer: known.GetWritableLayer(), Swap: known.GetSwap(), Io: known.GetIo(),
		})
	}
	return all
}
