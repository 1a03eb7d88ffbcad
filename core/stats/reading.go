package stats

import (
	"cmp"
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"

	"github.com/wardlet/wardlet/core/runtime"
	"github.com/wardlet/wardlet/core/stats/kernel"
	"github.com/wardlet/wardlet/core/status"
)

// Reading is the result of measuring once. It is shared and must not be changed.
type Reading struct {
	At time.Time
	// Rated reports whether there was a reading before, so that there are rates.
	Rated bool
	Node  statsapi.NodeStats
	// Memory is the memory of the machine in bytes; 0 if unknown.
	Memory uint64
	// Kernel are the counters of the root cgroup, Interfaces those of the node, and Disks the file systems
	// of pods, images and writable layers by the number of their device ("8:0"), all in a detailed reading.
	Kernel     kernel.Cgroup
	Interfaces []kernel.Interface
	Disks      map[string]*statsapi.FsStats
	// Pods are the pods with a sandbox that is ready, ordered by namespace and name.
	Pods []Pod
	// Failed is why the node could not be measured, nil if it was.
	Failed error
}

// Pod has the statistics of a pod.
type Pod struct {
	// Stats has no containers.
	Stats statsapi.PodStats
	// Sandbox is the ID of the sandbox. Cgroup and SandboxCgroup are the paths of the pod's cgroup and
	// of that of the sandbox's own process; empty if there is none.
	Sandbox, Cgroup, SandboxCgroup string
	HostNetwork                    bool
	// Kernel are the counters of the kernel: all in a detailed reading, else those that the runtime does
	// not have. Interfaces are those of a detailed reading.
	Kernel     kernel.Cgroup
	Interfaces []kernel.Interface
	Containers []Container
}

// Container has the statistics of a container that runs.
type Container struct {
	Stats statsapi.ContainerStats
	// ID and Image are the runtime's names for container and image.
	ID, Image string
	Cgroup    string
	// Layer is a path on the file system of the writable layer; empty if unknown.
	Layer   string
	LogPath string
	// Kernel is like that of Pod.
	Kernel kernel.Cgroup
}

// take measures CPU and memory.
func (s *Stats) take(ctx context.Context, now time.Time) *Reading {
	r := &Reading{At: now}
	use := s.usage(ctx, now)
	rates := s.newRates(now)
	s.measureNode(r, rates)
	cgroups := s.cfg.Kernel.Pods(s.cfg.CgroupRoot())
	noSwap := s.noSwap(now)
	for _, p := range s.cfg.Observed() {
		sandbox := readySandbox(&p)
		if sandbox == nil {
			continue
		}
		out := Pod{Sandbox: sandbox.ID, Cgroup: cgroups[p.UID], HostNetwork: sandbox.HostNetwork}
		if known := use.Sandboxes[sandbox.ID]; known != nil {
			out.Stats = *known
		}
		out.Stats.PodRef = statsapi.PodReference{Name: p.Name, Namespace: p.Namespace, UID: string(p.UID)}
		out.Stats.StartTime = metav1.NewTime(sandbox.CreatedAt)
		s.measurePod(&out, now)
		rates.add("pod "+sandbox.ID, out.Stats.CPU)
		s.measureContainers(&out, &p, use, rates, noSwap)
		out.Stats.Swap = cmp.Or(out.Stats.Swap, sumSwap(out.Containers))
		r.Pods = append(r.Pods, out)
	}
	slices.SortFunc(r.Pods, func(a, b Pod) int {
		x, y := &a.Stats.PodRef, &b.Stats.PodRef
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name), cmp.Compare(x.UID, y.UID))
	})
	s.counters, r.Rated = rates.now, rates.rated
	return r
}

// usage returns the statistics of the runtime. They are empty if the runtime does not answer; then
// the kernel's counters are used.
func (s *Stats) usage(ctx context.Context, now time.Time) *runtime.Usage {
	if now.Before(s.away) {
		return &runtime.Usage{}
	}
	ctx, cancel := context.WithTimeout(ctx, runtimeTime)
	defer cancel()
	use, err := s.cfg.Runtime.Usage(ctx)
	if err == nil {
		s.said = ""
		return use
	}
	s.away = now.Add(runtimeAgain)
	if text := err.Error(); s.said != text {
		s.said = text
		s.cfg.Logger.Warn("the runtime has no statistics; those of the kernel are used", "err", err)
	}
	return &runtime.Usage{}
}

// readySandbox returns the newest sandbox of a pod if it is ready, else nil.
func readySandbox(p *status.ObservedPod) *status.ObservedSandbox {
	for i := range p.Sandboxes {
		if p.Sandboxes[i].Ready {
			return &p.Sandboxes[i]
		}
	}
	return nil
}

// measurePod adds what the runtime does not know, from the pod's cgroup.
func (s *Stats) measurePod(p *Pod, now time.Time) {
	if p.Cgroup == "" || p.Stats.CPU != nil && p.Stats.Memory != nil && !doubtful(p.Stats.Memory) {
		return
	}
	p.Kernel = s.cfg.Kernel.Use(p.Cgroup)
	p.Stats.CPU, p.Stats.Memory = cmp.Or(p.Stats.CPU, cpuOf(&p.Kernel, now)), memoryOf(p.Stats.Memory, &p.Kernel, now)
	p.Stats.Swap = swapOf(&p.Kernel, now)
}

// noSwap returns the swap statistics of each container of a machine without swap, nil for another one.
// A runtime has none where the kernel does not count swap, as with cgroup v1.
func (s *Stats) noSwap(now time.Time) *statsapi.SwapStats {
	if !s.cfg.Kernel.HasNoSwap() {
		return nil
	}
	return &statsapi.SwapStats{Time: metav1.NewTime(now), SwapUsageBytes: new(uint64), SwapAvailableBytes: new(uint64)}
}

func (s *Stats) measureContainers(out *Pod, p *status.ObservedPod, use *runtime.Usage, rates *rates, noSwap *statsapi.SwapStats) {
	cgroups := s.cfg.Kernel.Containers(out.Cgroup)
	out.SandboxCgroup = cgroups[out.Sandbox]
	for i := range p.Containers {
		observed := &p.Containers[i]
		if observed.State != status.StateRunning || observed.SandboxID != out.Sandbox {
			continue
		}
		c := Container{ID: observed.ID, Image: observed.Image, Cgroup: cgroups[observed.ID], LogPath: observed.LogPath}
		if known := use.Containers[observed.ID]; known != nil {
			c.Stats, c.Layer = known.ContainerStats, known.Layer
		}
		c.Stats.Name, c.Stats.StartTime = observed.Name, metav1.NewTime(startOf(observed))
		if c.Cgroup != "" && (c.Stats.CPU == nil || c.Stats.Memory == nil || doubtful(c.Stats.Memory)) {
			c.Kernel = s.cfg.Kernel.Use(c.Cgroup)
			c.Stats.CPU, c.Stats.Memory = cmp.Or(c.Stats.CPU, cpuOf(&c.Kernel, rates.at)), memoryOf(c.Stats.Memory, &c.Kernel, rates.at)
			c.Stats.Swap = cmp.Or(c.Stats.Swap, swapOf(&c.Kernel, rates.at))
		}
		if c.Stats.Swap = cmp.Or(c.Stats.Swap, noSwap); c.Stats.Swap == nil && c.Cgroup != "" {
			counters := s.cfg.Kernel.Use(c.Cgroup)
			c.Stats.Swap = swapOf(&counters, rates.at)
		}
		rates.add(c.ID, c.Stats.CPU)
		out.Containers = append(out.Containers, c)
	}
}

func startOf(c *status.ObservedContainer) time.Time {
	if c.StartedAt.IsZero() {
		return c.CreatedAt
	}
	return c.StartedAt
}
