package stats

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"

	"github.com/wardlet/wardlet/core/runtime"
	"github.com/wardlet/wardlet/core/stats/kernel"
)

// detail returns a reading with everything that CPU and memory do without: file systems, logs,
// volumes, networks, processes and pressure.
func (s *Stats) detail(ctx context.Context, basic *Reading) *Reading {
	r := *basic
	k, now := s.cfg.Kernel, metav1.NewTime(r.At)
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), disksTime)
	defer cancel()
	disks := disks{ctx: limited, reader: &s.files, now: now, known: map[string]*disk{}}
	nodefs := disks.of(s.cfg.Layout.PodRoot)
	s.detailNode(ctx, &r, &disks)

	use := s.volumes.use()
	r.Pods = slices.Clone(r.Pods)
	for i := range r.Pods {
		p := &r.Pods[i]
		p.Kernel = k.Complete(p.Cgroup, p.Kernel)
		p.Stats.CPU, p.Stats.Memory, p.Stats.IO = pressed(&p.Kernel, p.Stats.CPU, p.Stats.Memory, p.Stats.IO, now)
		p.Containers = slices.Clone(p.Containers)
		var processes, used, inodes *uint64
		for j := range p.Containers {
			c := &p.Containers[j]
			s.detailContainer(c, &disks, nodefs)
			processes = added(processes, c.Kernel.Processes)
			used, inodes = added(added(used, c.Stats.Rootfs.UsedBytes), c.Stats.Logs.UsedBytes), added(added(inodes, c.Stats.Rootfs.InodesUsed), c.Stats.Logs.InodesUsed)
		}
		if p.Stats.ProcessStats == nil && processes != nil {
			p.Stats.ProcessStats = &statsapi.ProcessStats{ProcessCount: processes}
		}
		s.detailNetwork(p, r.At)
		var onDisk []statsapi.VolumeStats
		p.Stats.VolumeStats, onDisk = volumeStats(use[types.UID(p.Stats.PodRef.UID)], &disks)
		for j := range onDisk {
			used, inodes = added(used, onDisk[j].UsedBytes), added(inodes, onDisk[j].InodesUsed)
		}
		p.Stats.EphemeralStorage = within(nodefs, now, used, inodes)
	}
	return &r
}

func (s *Stats) detailNode(ctx context.Context, r *Reading, disks *disks) {
	k, n, now := s.cfg.Kernel, &r.Node, metav1.NewTime(r.At)
	r.Kernel = k.All(rootCgroup)
	cpu, memory, io := k.Pressure()
	machine := kernel.Cgroup{CPUPressure: cpu, MemoryPressure: memory, IOPressure: io}
	n.CPU, n.Memory, n.IO = pressed(&machine, n.CPU, n.Memory, n.IO, now)
	n.SystemContainers = slices.Clone(n.SystemContainers)
	for i := range n.SystemContainers {
		c := &n.SystemContainers[i]
		if cgroup := s.systemCgroup(c.Name, r.At); cgroup != "" {
			counted := k.All(cgroup)
			c.CPU, c.Memory, c.IO = pressed(&counted, c.CPU, c.Memory, c.IO, now)
		}
	}
	if all, err := k.Interfaces(s.cfg.PID); err == nil {
		r.Interfaces = all
		n.Network = networkOf(all, k.DefaultInterface(s.cfg.PID), r.At)
	}
	if tasks, most, err := k.Tasks(); err == nil {
		n.Rlimit = &statsapi.RlimitStats{Time: now, MaxPID: &most, NumOfRunningProcesses: &tasks}
	}
	if fs := disks.of(s.cfg.Layout.PodRoot); fs != nil {
		n.Fs = within(fs, now, fs.UsedBytes, fs.InodesUsed)
	}
	n.Runtime = s.stores(ctx, r.At, disks)
	r.Disks = disks.devices()
}

// systemCgroup returns the cgroup of a system container, empty if it is not known.
func (s *Stats) systemCgroup(name string, now time.Time) string {
	switch name {
	case statsapi.SystemContainerPods:
		return s.cfg.CgroupRoot()
	case statsapi.SystemContainerKubelet:
		return s.cfg.Kernel.CgroupOf(s.cfg.PID)
	}
	return s.cfg.Kernel.CgroupOf(s.peer.process(s.cfg.RuntimeSocket, now))
}

// stores returns the file systems of the runtime, nil if it does not answer.
func (s *Stats) stores(ctx context.Context, now time.Time, disks *disks) *statsapi.RuntimeStats {
	if now.Before(s.away) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), runtimeTime)
	defer cancel()
	images, containers, err := s.cfg.Runtime.Stores(ctx)
	if err != nil {
		return nil
	}
	fs := func(store *runtime.Store) *statsapi.FsStats {
		return within(disks.of(store.Path), store.Used.Time, store.Used.UsedBytes, store.Used.InodesUsed)
	}
	return &statsapi.RuntimeStats{ImageFs: fs(&images), ContainerFs: fs(&containers)}
}

func (s *Stats) detailContainer(c *Container, disks *disks, nodefs *statsapi.FsStats) {
	c.Kernel = s.cfg.Kernel.Complete(c.Cgroup, c.Kernel)
	if c.Kernel.Processes == nil {
		c.Kernel.Processes = s.cfg.Kernel.Processes(c.Cgroup)
	}
	c.Stats.CPU, c.Stats.Memory, c.Stats.IO = pressed(&c.Kernel, c.Stats.CPU, c.Stats.Memory, c.Stats.IO, disks.now)
	if rootfs := c.Stats.Rootfs; rootfs != nil {
		c.Stats.Rootfs = within(disks.of(c.Layer), rootfs.Time, rootfs.UsedBytes, rootfs.InodesUsed)
	} else {
		c.Stats.Rootfs = within(nil, disks.now, nil, nil)
	}
	used, inodes := logUse(c.LogPath)
	c.Stats.Logs = within(nodefs, disks.now, used, inodes)
}

// detailNetwork adds the counters of the pod's interfaces, unless it is on the network of the node. The
// sandbox of CRI-O may have no process; then the interfaces are those of a container.
func (s *Stats) detailNetwork(p *Pod, now time.Time) {
	if p.HostNetwork {
		return
	}
	pid := s.cfg.Kernel.Member(p.SandboxCgroup)
	for i := 0; pid == 0 && i < len(p.Containers); i++ {
		pid = s.cfg.Kernel.Member(p.Containers[i].Cgroup)
	}
	if pid == 0 {
		return
	}
	all, err := s.cfg.Kernel.Interfaces(pid)
	if err != nil {
		return // the process has ended
	}
	p.Interfaces = all
	if p.Stats.Network == nil {
		p.Stats.Network = networkOf(all, s.cfg.Kernel.DefaultInterface(pid), now)
	}
}

// pressed returns the statistics with the pressure that the kernel counts, unless the runtime has it.
// It changes copies only.
func pressed(k *kernel.Cgroup, cpu *statsapi.CPUStats, memory *statsapi.MemoryStats, io *statsapi.IOStats, now metav1.Time) (*statsapi.CPUStats, *statsapi.MemoryStats, *statsapi.IOStats) {
	if cpu != nil && cpu.PSI == nil && k.CPUPressure != nil {
		own := *cpu
		own.PSI = psiOf(k.CPUPressure)
		cpu = &own
	}
	if memory != nil && memory.PSI == nil && k.MemoryPressure != nil {
		own := *memory
		own.PSI = psiOf(k.MemoryPressure)
		memory = &own
	}
	if (io == nil || io.PSI == nil) && k.IOPressure != nil {
		io = &statsapi.IOStats{Time: now, PSI: psiOf(k.IOPressure)}
	}
	return cpu, memory, io
}

// logUse returns how much the logs of a container use, with those that are rotated; nil if unknown.
func logUse(path string) (bytes, inodes *uint64) {
	if path == "" {
		return nil, nil
	}
	return filesUse(filepath.Dir(path))
}
