package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// Usage is what the runtime knows about the resources that sandboxes and containers use, of this
// installation and of others. Values that the runtime does not know are nil.
type Usage struct {
	// Sandboxes are the statistics of pods by the ID of the sandbox, without names, start time and
	// containers. They are nil if the runtime only knows those of containers.
	Sandboxes map[string]*statsapi.PodStats
	// Containers are the statistics of containers by ID.
	Containers map[string]*ContainerUsage
}

// ContainerUsage has the statistics of a container, without name, start time and logs.
type ContainerUsage struct {
	statsapi.ContainerStats
	// Layer is a path on the file system of the container's writable layer; empty if unknown.
	Layer string
}

// Store is a file system on which the runtime keeps images or containers.
type Store struct {
	// Path is a path on the file system. Used has the time, the bytes and the inodes that the runtime
	// uses there.
	Path string
	Used statsapi.FsStats
}

// Usage returns the statistics of all sandboxes and containers. It asks for those of sandboxes, and
// if the runtime refuses, for those of containers.
func (r *Runtime) Usage(ctx context.Context) (*Usage, error) {
	u := &Usage{Containers: map[string]*ContainerUsage{}}
	sandboxes, err := r.cri.ListPodSandboxStats(ctx, &runtimeapi.ListPodSandboxStatsRequest{})
	if err == nil {
		u.Sandboxes = map[string]*statsapi.PodStats{}
		for _, s := range sandboxes.GetStats() {
			u.Sandboxes[s.GetAttributes().GetId()] = podStats(s.GetLinux())
			u.add(s.GetLinux().GetContainers())
		}
		return u, nil
	}
	if interrupted(err) || errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("read the statistics of pods: %w", err)
	}
	containers, again := r.cri.ListContainerStats(ctx, &runtimeapi.ListContainerStatsRequest{})
	if again != nil {
		return nil, fmt.Errorf("read the statistics of pods: %w; read those of containers: %w", err, again)
	}
	u.add(containers.GetStats())
	return u, nil
}

func (u *Usage) add(all []*runtimeapi.ContainerStats) {
	for _, s := range all {
		u.Containers[s.GetAttributes().GetId()] = &ContainerUsage{ContainerStats: containerStats(s), Layer: s.GetWritableLayer().GetFsId().GetMountpoint()}
	}
}

// Stores returns the file systems of images and of containers. If the runtime does not tell them
// apart, both are the same.
func (r *Runtime) Stores(ctx context.Context) (images, containers Store, err error) {
	answer, err := r.images.ImageFsInfo(ctx, &runtimeapi.ImageFsInfoRequest{})
	if err != nil {
		return images, containers, fmt.Errorf("read the use of the image file system: %w", err)
	}
	if len(answer.GetImageFilesystems()) == 0 {
		return images, containers, errors.New("the runtime names no file system of images")
	}
	images = store(answer.GetImageFilesystems()[0])
	containers = images
	if own := answer.GetContainerFilesystems(); len(own) > 0 {
		containers = store(own[0])
	}
	return images, containers, nil
}

func store(fs *runtimeapi.FilesystemUsage) Store {
	return Store{fs.GetFsId().GetMountpoint(), *fsStats(fs)}
}

func podStats(s *runtimeapi.LinuxPodSandboxStats) *statsapi.PodStats {
	p := &statsapi.PodStats{CPU: cpuStats(s.GetCpu()), Memory: memoryStats(s.GetMemory()), IO: ioStats(s.GetIo()), Network: networkStats(s.GetNetwork())}
	if n := s.GetProcess().GetProcessCount(); n != nil {
		p.ProcessStats = &statsapi.ProcessStats{ProcessCount: &n.Value}
	}
	return p
}

func containerStats(s *runtimeapi.ContainerStats) statsapi.ContainerStats {
	c := statsapi.ContainerStats{CPU: cpuStats(s.GetCpu()), Memory: memoryStats(s.GetMemory()), IO: ioStats(s.GetIo())}
	if layer := s.GetWritableLayer(); layer != nil {
		c.Rootfs = fsStats(layer)
	}
	if swap := s.GetSwap(); swap != nil {
		c.Swap = &statsapi.SwapStats{Time: at(swap.GetTimestamp()), SwapAvailableBytes: amount(swap.GetSwapAvailableBytes()), SwapUsageBytes: amount(swap.GetSwapUsageBytes())}
	}
	return c
}

func cpuStats(c *runtimeapi.CpuUsage) *statsapi.CPUStats {
	if c == nil {
		return nil
	}
	return &statsapi.CPUStats{
		Time: at(c.GetTimestamp()), UsageCoreNanoSeconds: amount(c.GetUsageCoreNanoSeconds()), UsageNanoCores: amount(c.GetUsageNanoCores()), PSI: psi(c.GetPsi()),
	}
}

func memoryStats(m *runtimeapi.MemoryUsage) *statsapi.MemoryStats {
	if m == nil {
		return nil
	}
	return &statsapi.MemoryStats{
		Time: at(m.GetTimestamp()), AvailableBytes: amount(m.GetAvailableBytes()), UsageBytes: amount(m.GetUsageBytes()), WorkingSetBytes: amount(m.GetWorkingSetBytes()),
		RSSBytes: amount(m.GetRssBytes()), PageFaults: amount(m.GetPageFaults()), MajorPageFaults: amount(m.GetMajorPageFaults()), PSI: psi(m.GetPsi()),
	}
}

func ioStats(i *runtimeapi.IoUsage) *statsapi.IOStats {
	if i == nil {
		return nil
	}
	return &statsapi.IOStats{Time: at(i.GetTimestamp()), PSI: psi(i.GetPsi())}
}

func fsStats(f *runtimeapi.FilesystemUsage) *statsapi.FsStats {
	return &statsapi.FsStats{Time: at(f.GetTimestamp()), UsedBytes: amount(f.GetUsedBytes()), InodesUsed: amount(f.GetInodesUsed())}
}

func networkStats(n *runtimeapi.NetworkUsage) *statsapi.NetworkStats {
	if n.GetDefaultInterface() == nil {
		return nil
	}
	out := &statsapi.NetworkStats{Time: at(n.GetTimestamp()), InterfaceStats: interfaceStats(n.GetDefaultInterface())}
	out.Interfaces = append(out.Interfaces, out.InterfaceStats)
	for _, i := range n.GetInterfaces() {
		if i.GetName() != out.Name {
			out.Interfaces = append(out.Interfaces, interfaceStats(i))
		}
	}
	return out
}

func interfaceStats(i *runtimeapi.NetworkInterfaceUsage) statsapi.InterfaceStats {
	return statsapi.InterfaceStats{
		Name: i.GetName(), RxBytes: amount(i.GetRxBytes()), RxErrors: amount(i.GetRxErrors()), TxBytes: amount(i.GetTxBytes()), TxErrors: amount(i.GetTxErrors()),
	}
}

func psi(p *runtimeapi.PsiStats) *statsapi.PSIStats {
	if p == nil {
		return nil
	}
	data := func(d *runtimeapi.PsiData) statsapi.PSIData {
		return statsapi.PSIData{Total: d.GetTotal(), Avg10: d.GetAvg10(), Avg60: d.GetAvg60(), Avg300: d.GetAvg300()}
	}
	return &statsapi.PSIStats{Full: data(p.GetFull()), Some: data(p.GetSome())}
}

// amount returns a number, nil if the runtime does not set it.
func amount(n *runtimeapi.UInt64Value) *uint64 {
	if n == nil {
		return nil
	}
	return &n.Value
}

// at returns the time of a timestamp in nanoseconds.
func at(nanoseconds int64) metav1.Time { return metav1.NewTime(time.Unix(0, nanoseconds)) }
