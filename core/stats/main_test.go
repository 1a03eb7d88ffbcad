package stats

import (
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/runtime"
	"github.com/wardlet/wardlet/core/stats/kernel"
	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/test/fakecri"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig has statistics of a machine of files, with a runtime and a clock that the test sets.
type rig struct {
	*Stats

	cri  *fakecri.Server
	api  runtimeapi.RuntimeServiceClient
	root string

	mu   sync.Mutex
	now  time.Time
	pods []*v1.Pod
	seen []status.ObservedPod
}

// hundredth is the kernel's unit of CPU time in /proc.
const hundredth = 10 * time.Millisecond

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{cri: fakecri.Start(t), root: t.TempDir(), now: time.Unix(1_700_000_100, 0)}
	r.write(t, map[string]string{
		"proc/self/mountinfo": "30 23 0:27 / /sys/fs/cgroup rw - cgroup2 none rw\n",
		"proc/stat":           "cpu 100 0 0 5 5 0 0 0 0 0\nbtime 1700000000\n",
		"proc/meminfo":        "MemTotal: 1000 kB\nMemFree: 400 kB\nAnonPages: 50 kB\nInactive(file): 100 kB\nSwapTotal: 20 kB\nSwapFree: 5 kB\n",
		"proc/vmstat":         "pgfault 77\npgmajfault 3\n",
		"proc/loadavg":        "0.1 0.2 0.3 2/345 99\n", "proc/sys/kernel/pid_max": "32768\n", "proc/sys/kernel/threads-max": "1000\n",
		"proc/7/stat":      "7 (wardlet) S 1 1 1 0 -1 4194304 10 0 20 0 30 40 0 0 20 0 1 0 500 4096 6 0 0\n",
		"proc/7/net/dev":   "x\ny\n  veth1: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n  eth0: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n  eth1: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n",
		"proc/7/net/route": "Iface\neth1\t00000000\t010011AC\t3\t0\t0\t0\t00000000\n",
		"proc/pressure/io": "some avg10=1.00 avg60=0.00 avg300=0.00 total=5\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
	})
	client, err := runtime.Dial(r.cri.Endpoint(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	conn, err := grpc.NewClient(r.cri.Endpoint(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	r.api = runtimeapi.NewRuntimeServiceClient(conn)
	counters, err := kernel.Open(r.root)
	if err != nil {
		t.Fatal(err)
	}
	logger := slog.New(slog.DiscardHandler)
	r.Stats = New(Config{
		Node: "edge", Runtime: runtime.New(runtime.Config{Client: client, Logger: logger, Now: time.Now}), Kernel: counters,
		Observed: func() []status.ObservedPod { return r.seen }, Pods: func() []*v1.Pod { return r.pods },
		Layout: pod.Layout{PodRoot: filepath.Join(r.root, "lib"), LogRoot: filepath.Join(r.root, "log")}, CgroupRoot: func() string { return "/wardlet" }, PID: 7, CPUs: 4, Logger: logger, Now: r.clock,
	})
	r.write(t, map[string]string{"lib/x": ""})
	return r
}

func (r *rig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *rig) advance(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(d)
}

// write writes files below the root of the machine.
func (r *rig) write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(r.root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// run runs a pod with containers in the runtime, as the agent then observes it.
func (r *rig) run(t *testing.T, name string, containers ...string) *status.ObservedPod {
	t.Helper()
	r.cri.Load("app:1", 1, fakecri.Program{})
	config := &runtimeapi.PodSandboxConfig{Metadata: &runtimeapi.PodSandboxMetadata{Name: name, Namespace: "default", Uid: "uid-" + name}, LogDirectory: filepath.Join(r.root, "log", name)}
	box, err := r.api.RunPodSandbox(t.Context(), &runtimeapi.RunPodSandboxRequest{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	r.write(t, map[string]string{
		"sys/fs/cgroup/wardlet/poduid-" + name + "/" + box.GetPodSandboxId() + "/cgroup.procs": "7\n",
		"sys/fs/cgroup/wardlet/poduid-" + name + "/cpu.stat":                                   "usage_usec 3000000\n",
	})
	p := status.ObservedPod{
		UID: types.UID("uid-" + name), Name: name, Namespace: "default",
		Sandboxes: []status.ObservedSandbox{{ID: box.GetPodSandboxId(), Ready: true, CreatedAt: time.Unix(1_700_000_010, 0)}},
	}
	for _, container := range containers {
		made, err := r.api.CreateContainer(t.Context(), &runtimeapi.CreateContainerRequest{PodSandboxId: box.GetPodSandboxId(), Config: &runtimeapi.ContainerConfig{
			Metadata: &runtimeapi.ContainerMetadata{Name: container}, Image: &runtimeapi.ImageSpec{Image: "app:1"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.api.StartContainer(t.Context(), &runtimeapi.StartContainerRequest{ContainerId: made.GetContainerId()}); err != nil {
			t.Fatal(err)
		}
		r.write(t, map[string]string{"log/" + name + "/" + container + "/0.log": "hello\n"})
		p.Containers = append(p.Containers, status.ObservedContainer{
			ID: made.GetContainerId(), SandboxID: box.GetPodSandboxId(), Name: container, State: status.StateRunning, Image: "registry.example/app:1",
			StartedAt: time.Unix(1_700_000_020, 0), LogPath: filepath.Join(r.root, "log", name, container, "0.log"),
		})
	}
	r.seen = append(r.seen, p)
	return &r.seen[len(r.seen)-1]
}

// cgroup returns files of a cgroup of a pod.
func cgroup(pod, container string, files map[string]string) map[string]string {
	out := map[string]string{}
	for name, content := range files {
		out[filepath.Join("sys/fs/cgroup/wardlet/poduid-"+pod, container, name)] = content
	}
	return out
}

func wrapped(n uint64) *runtimeapi.UInt64Value { return &runtimeapi.UInt64Value{Value: n} }

// used returns the statistics of a container at a time.
func used(at time.Time, cpu time.Duration, memory uint64) *runtimeapi.ContainerStats {
	return &runtimeapi.ContainerStats{
		Cpu:    &runtimeapi.CpuUsage{Timestamp: at.UnixNano(), UsageCoreNanoSeconds: wrapped(uint64(cpu))},
		Memory: &runtimeapi.MemoryUsage{Timestamp: at.UnixNano(), WorkingSetBytes: wrapped(memory), UsageBytes: wrapped(memory + 5), AvailableBytes: wrapped(0)},
	}
}
