package runtime

import (
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"

	podstatus "github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/test/fakecri"
)

func number(n uint64) *runtimeapi.UInt64Value { return &runtimeapi.UInt64Value{Value: n} }

// TestUsage compares all statistics of a pod with the values that the runtime has.
func TestUsage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.start(t, newPod("web"), fakecri.Program{})
	idle := r.start(t, newPod("idle"), fakecri.Program{})
	observed, err := r.ListPods(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sandbox := ""
	for _, p := range observed {
		if p.Name == "web" {
			sandbox = p.Sandboxes[0].ID
		}
	}
	at, psi := time.Unix(100, 5), &runtimeapi.PsiStats{Some: &runtimeapi.PsiData{Total: 1, Avg10: 2, Avg60: 3, Avg300: 4}}
	cpu := &runtimeapi.CpuUsage{Timestamp: at.UnixNano(), UsageCoreNanoSeconds: number(7), UsageNanoCores: number(8), Psi: psi}
	memory := &runtimeapi.MemoryUsage{Timestamp: at.UnixNano(), WorkingSetBytes: number(1), AvailableBytes: number(2), UsageBytes: number(3), RssBytes: number(4), PageFaults: number(5), MajorPageFaults: number(6)}
	r.cri.SetStats(id, &runtimeapi.ContainerStats{
		Cpu: cpu, Memory: memory, Swap: &runtimeapi.SwapUsage{Timestamp: at.UnixNano(), SwapUsageBytes: number(9)}, Io: &runtimeapi.IoUsage{Timestamp: at.UnixNano(), Psi: psi},
		WritableLayer: &runtimeapi.FilesystemUsage{Timestamp: at.UnixNano(), FsId: &runtimeapi.FilesystemIdentifier{Mountpoint: "/layers"}, UsedBytes: number(10), InodesUsed: number(11)},
	})
	r.cri.SetSandboxStats(sandbox, &runtimeapi.LinuxPodSandboxStats{
		Cpu: cpu, Process: &runtimeapi.ProcessUsage{ProcessCount: number(12)},
		Network: &runtimeapi.NetworkUsage{Timestamp: at.UnixNano(), DefaultInterface: &runtimeapi.NetworkInterfaceUsage{Name: "eth0", RxBytes: number(13)}, Interfaces: []*runtimeapi.NetworkInterfaceUsage{{Name: "eth0"}, {Name: "eth1", TxErrors: number(14)}}},
	})
	now, n := metav1.NewTime(at), func(n uint64) *uint64 { return &n }
	wantPSI := &statsapi.PSIStats{Some: statsapi.PSIData{Total: 1, Avg10: 2, Avg60: 3, Avg300: 4}}
	wantCPU := &statsapi.CPUStats{Time: now, UsageCoreNanoSeconds: n(7), UsageNanoCores: n(8), PSI: wantPSI}
	wantContainer := &ContainerUsage{Layer: "/layers", ContainerStats: statsapi.ContainerStats{
		CPU: wantCPU, Memory: &statsapi.MemoryStats{Time: now, WorkingSetBytes: n(1), AvailableBytes: n(2), UsageBytes: n(3), RSSBytes: n(4), PageFaults: n(5), MajorPageFaults: n(6)},
		Swap: &statsapi.SwapStats{Time: now, SwapUsageBytes: n(9)}, IO: &statsapi.IOStats{Time: now, PSI: wantPSI}, Rootfs: &statsapi.FsStats{Time: now, UsedBytes: n(10), InodesUsed: n(11)},
	}}
	first := statsapi.InterfaceStats{Name: "eth0", RxBytes: n(13)}
	wantPod := &statsapi.PodStats{CPU: wantCPU, ProcessStats: &statsapi.ProcessStats{ProcessCount: n(12)}, Network: &statsapi.NetworkStats{Time: now, InterfaceStats: first, Interfaces: []statsapi.InterfaceStats{first, {Name: "eth1", TxErrors: n(14)}}}}

	got, err := r.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "container", wantContainer, got.Containers[id])
	mustEqual(t, "a container without statistics", &ContainerUsage{}, got.Containers[idle])
	mustEqual(t, "pod", wantPod, got.Sandboxes[sandbox])

	r.cri.Fail("ListPodSandboxStats", status.Error(codes.Unimplemented, "no such call"))
	got, err = r.Usage(t.Context())
	if err != nil || got.Sandboxes != nil {
		t.Errorf("from containers: %+v, %v", got, err)
	}
	mustEqual(t, "container", wantContainer, got.Containers[id])
}

func TestUsage_failures(t *testing.T) {
	t.Parallel()
	broken := status.Error(codes.Internal, "a task is broken")
	for name, test := range map[string]struct {
		fail func(s *fakecri.Server)
		want error
		text string
		// asked is how often the statistics of containers are asked for.
		asked int
	}{
		"one pod is broken":   {func(s *fakecri.Server) { s.Fail("ListPodSandboxStats", broken) }, nil, "", 1},
		"everything is":       {func(s *fakecri.Server) { s.Fail("ListPodSandboxStats", broken); s.Fail("ListContainerStats", broken) }, nil, "read the statistics of pods: a task is broken; read those of containers: a task is broken", 1},
		"the runtime is away": {func(s *fakecri.Server) { s.Stop() }, podstatus.ErrRuntimeUnavailable, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			test.fail(r.cri)
			_, err := r.Usage(t.Context())
			if test.want != nil && !errors.Is(err, test.want) || test.text != "" && (err == nil || err.Error() != test.text) || test.want == nil && test.text == "" && err != nil {
				t.Errorf("error %v", err)
			}
			if asked := r.cri.Count("ListContainerStats"); asked != test.asked {
				t.Errorf("%d calls for containers, want %d", asked, test.asked)
			}
		})
	}
}

func TestStores(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	images, containers, err := r.Stores(t.Context())
	if err != nil || images.Used.UsedBytes == nil || containers.Path != images.Path {
		t.Errorf("%+v, %+v, %v", images, containers, err)
	}
	r.cri.Stop()
	if _, _, err := r.Stores(t.Context()); !errors.Is(err, podstatus.ErrRuntimeUnavailable) {
		t.Errorf("without a runtime: %v", err)
	}
}
