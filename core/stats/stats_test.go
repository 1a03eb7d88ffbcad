package stats

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// TestSummary_basic compares a summary of CPU and memory with the values of the runtime and of the
// kernel.
func TestSummary_basic(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.run(t, "web", "main")
	id := p.Containers[0].ID
	at := r.now.Add(-time.Second)
	r.cri.SetStats(id, used(at, 2*time.Second, 4000))
	r.write(t, cgroup("web", "", map[string]string{"memory.current": "6000", "memory.max": "max", "memory.stat": "inactive_file 1000\nanon 2000\n"}))
	r.write(t, cgroup("web", id, map[string]string{"memory.current": "5000", "memory.max": "9000", "memory.stat": "inactive_file 1\n"}))
	r.write(t, map[string]string{"sys/fs/cgroup/wardlet/cpu.stat": "usage_usec 10\n"})

	first, err := r.Summary(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	now, read := metav1.NewTime(r.now), metav1.NewTime(time.Unix(0, at.UnixNano()))
	want := statsapi.PodStats{
		PodRef: statsapi.PodReference{Name: "web", Namespace: "default", UID: "uid-web"}, StartTime: metav1.NewTime(time.Unix(1_700_000_010, 0)),
		CPU:    &statsapi.CPUStats{Time: now, UsageCoreNanoSeconds: new(uint64(3_000_000_000))},
		Memory: &statsapi.MemoryStats{Time: now, UsageBytes: new(uint64(6000)), WorkingSetBytes: new(uint64(5000)), RSSBytes: new(uint64(2000))},
		Containers: []statsapi.ContainerStats{{
			Name: "main", StartTime: metav1.NewTime(time.Unix(1_700_000_020, 0)),
			CPU:    &statsapi.CPUStats{Time: read, UsageCoreNanoSeconds: new(uint64(2_000_000_000))},
			Memory: &statsapi.MemoryStats{Time: read, WorkingSetBytes: new(uint64(4000)), UsageBytes: new(uint64(4005)), AvailableBytes: new(uint64(5000))},
		}},
	}
	if diff := cmp.Diff([]statsapi.PodStats{want}, first.Pods); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
	kib := func(n uint64) *uint64 { return new(n << 10) }
	process := &statsapi.MemoryStats{Time: now, UsageBytes: first.Node.SystemContainers[0].Memory.UsageBytes, WorkingSetBytes: first.Node.SystemContainers[0].Memory.UsageBytes, RSSBytes: first.Node.SystemContainers[0].Memory.UsageBytes, PageFaults: new(uint64(10)), MajorPageFaults: new(uint64(20))}
	boot := metav1.NewTime(time.Unix(1_700_000_000, 0))
	node := statsapi.NodeStats{
		NodeName: "edge", StartTime: boot,
		CPU:    &statsapi.CPUStats{Time: now, UsageCoreNanoSeconds: new(uint64(100 * hundredth))},
		Memory: &statsapi.MemoryStats{Time: now, AvailableBytes: kib(500), UsageBytes: kib(600), WorkingSetBytes: kib(500), RSSBytes: kib(50), PageFaults: new(uint64(77)), MajorPageFaults: new(uint64(3))},
		Swap:   &statsapi.SwapStats{Time: now, SwapAvailableBytes: kib(5), SwapUsageBytes: kib(15)},
		SystemContainers: []statsapi.ContainerStats{
			{Name: "kubelet", StartTime: metav1.NewTime(boot.Add(5 * time.Second)), CPU: &statsapi.CPUStats{Time: now, UsageCoreNanoSeconds: new(uint64(70 * hundredth))}, Memory: process},
			{Name: "pods", StartTime: boot, CPU: &statsapi.CPUStats{Time: now, UsageCoreNanoSeconds: new(uint64(10_000))}},
		},
	}
	if diff := cmp.Diff(node, first.Node); diff != "" {
		t.Errorf("node (-want +got):\n%s", diff)
	}
}

// TestRates reads twice. The rates are those between the readings.
func TestRates(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		passed time.Duration
		// second is the CPU time in the second reading, says what the runtime itself says then.
		second time.Duration
		says   uint64
		want   *uint64
		rated  bool
	}{
		"half a core":             {10 * time.Second, 7 * time.Second, 0, new(uint64(500_000_000)), true},
		"idle":                    {10 * time.Second, 2 * time.Second, 0, new(uint64(0)), true},
		"the runtime knows":       {10 * time.Second, 7 * time.Second, 123, new(uint64(123)), true},
		"the counter began again": {10 * time.Second, time.Second, 0, nil, true},
		"too long ago":            {time.Hour, 7 * time.Second, 0, nil, false},
		"still fresh":             {time.Second, 7 * time.Second, 0, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			id := r.run(t, "web", "main").Containers[0].ID
			r.cri.SetStats(id, used(r.now, 2*time.Second, 1))
			if got, err := r.Basic(t.Context()); err != nil || got.Rated || got.Pods[0].Containers[0].Stats.CPU.UsageNanoCores != nil {
				t.Errorf("first: %+v, %v", got, err)
			}
			r.advance(test.passed)
			stats := used(r.now, test.second, 1)
			stats.Cpu.UsageNanoCores = wrapped(test.says)
			r.cri.SetStats(id, stats)
			got, err := r.Basic(t.Context())
			if err != nil || got.Rated != test.rated {
				t.Fatalf("second: %+v, %v", got, err)
			}
			if diff := cmp.Diff(test.want, got.Pods[0].Containers[0].Stats.CPU.UsageNanoCores); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRates_ofARuntimeThatKeepsItsAnswer gets the same statistics twice after another reading.
func TestRates_ofARuntimeThatKeepsItsAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.run(t, "web", "main").Containers[0].ID
	for i, cpu := range []time.Duration{0, 5 * time.Second, 5 * time.Second} {
		if i < 2 {
			r.cri.SetStats(id, used(r.now, cpu, 1))
		}
		got, err := r.Basic(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if rate := got.Pods[0].Containers[0].Stats.CPU.UsageNanoCores; i > 0 && (rate == nil || *rate != 500_000_000) {
			t.Errorf("reading %d: %v", i, rate)
		}
		r.advance(10 * time.Second)
	}
}

// TestBasic_isShared asks from many goroutines at once.
func TestBasic_isShared(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.run(t, "web", "main")
	ask := func() {
		var asking sync.WaitGroup
		for range 10 {
			asking.Go(func() {
				_, err := r.Basic(t.Context())
				_, again := r.Detailed(t.Context())
				if err := errors.Join(err, again); err != nil {
					t.Error(err)
				}
			})
		}
		asking.Wait()
	}
	ask()
	if got := []int{r.cri.Count("ListPodSandboxStats"), r.cri.Count("ImageFsInfo")}; got[0] != 1 || got[1] != 1 {
		t.Errorf("calls %v for twenty readers, want one each", got)
	}
	r.advance(fresh)
	ask()
	if got := r.cri.Count("ListPodSandboxStats"); got != 2 {
		t.Errorf("%d calls after the reading is old, want 2", got)
	}
}

// TestBasic_callerLeaves cancels the context of the caller that reads. Another caller has the result.
func TestBasic_callerLeaves(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.run(t, "web", "main")
	ctx, cancel := context.WithCancel(t.Context())
	r.cri.Before("ListPodSandboxStats", func(context.Context, any) error { cancel(); return nil })
	if got, err := r.Basic(ctx); err != nil || len(got.Pods) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	r.turn <- struct{}{}
	if _, err := r.Basic(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that has left waits: %v", err)
	}
	<-r.turn
}

// TestBasic_withoutTheRuntime measures by the counters of the kernel, and asks the runtime again later.
func TestBasic_withoutTheRuntime(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.run(t, "web", "main").Containers[0].ID
	r.write(t, cgroup("web", id, map[string]string{
		"cpu.stat": "usage_usec 5\n", "memory.current": "5000", "memory.max": "9000", "memory.stat": "inactive_file 1000\n", "memory.swap.current": "30", "memory.swap.max": "max",
	}))
	broken := status.Error(codes.Internal, "broken")
	r.cri.Fail("ListPodSandboxStats", broken)
	r.cri.Fail("ListContainerStats", broken)
	got, err := r.Basic(t.Context())
	if err != nil || got.Failed != nil {
		t.Fatal(err, got.Failed)
	}
	now := metav1.NewTime(r.now)
	c := got.Pods[0].Containers[0].Stats
	want := statsapi.ContainerStats{
		Name: "main", StartTime: c.StartTime, CPU: &statsapi.CPUStats{Time: now, UsageCoreNanoSeconds: new(uint64(5000))},
		Memory: &statsapi.MemoryStats{Time: now, UsageBytes: new(uint64(5000)), WorkingSetBytes: new(uint64(4000)), AvailableBytes: new(uint64(5000))},
		Swap:   &statsapi.SwapStats{Time: now, SwapUsageBytes: new(uint64(30))},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&statsapi.SwapStats{Time: now, SwapUsageBytes: new(uint64(30))}, got.Pods[0].Stats.Swap); diff != "" {
		t.Errorf("swap of the pod (-want +got):\n%s", diff)
	}
	r.cri.Clear("ListPodSandboxStats")
	r.cri.SetStats(id, used(r.now, time.Second, 123))
	for _, step := range []struct {
		after time.Duration
		want  uint64
	}{{fresh, 4000}, {runtimeAgain, 123}} {
		r.advance(step.after)
		if got, err := r.Basic(t.Context()); err != nil || *got.Pods[0].Containers[0].Stats.Memory.WorkingSetBytes != step.want {
			t.Errorf("after %v: %d, %v; want %d", step.after, *got.Pods[0].Containers[0].Stats.Memory.WorkingSetBytes, err, step.want)
		}
	}
}

// TestBasic_swapThatTheRuntimeDoesNotCount has a runtime that counts CPU and memory only.
func TestBasic_swapThatTheRuntimeDoesNotCount(t *testing.T) {
	t.Parallel()
	const titles = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
	for name, test := range map[string]struct {
		files map[string]string
		swaps string
		want  *statsapi.SwapStats
	}{
		"the machine has none":         {nil, titles, &statsapi.SwapStats{SwapUsageBytes: new(uint64), SwapAvailableBytes: new(uint64)}},
		"the kernel counts it":         {map[string]string{"memory.current": "5000", "memory.swap.current": "30", "memory.swap.max": "max"}, titles + "/dev/vdb partition 1048572 0 -2\n", &statsapi.SwapStats{SwapUsageBytes: new(uint64(30))}},
		"the kernel does not count it": {map[string]string{"memory.current": "5000"}, titles + "/dev/vdb partition 1048572 0 -2\n", nil},
	} {
		r := newRig(t)
		id := r.run(t, "web", "main").Containers[0].ID
		r.write(t, map[string]string{"proc/swaps": test.swaps})
		r.write(t, cgroup("web", id, test.files))
		r.cri.SetStats(id, used(r.now, time.Second, 123))
		got, err := r.Basic(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if test.want != nil {
			test.want.Time = metav1.NewTime(r.now)
		}
		if diff := cmp.Diff(test.want, got.Pods[0].Containers[0].Stats.Swap); diff != "" {
			t.Errorf("%s: container (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(test.want, got.Pods[0].Stats.Swap); diff != "" {
			t.Errorf("%s: pod (-want +got):\n%s", name, diff)
		}
	}
}

// TestBasic_pods has pods of all states. Only those that run are measured.
func TestBasic_pods(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.run(t, "b", "main", "gone")
	r.run(t, "a")
	r.run(t, "ended", "main")
	for i := range r.seen {
		switch p := &r.seen[i]; p.Name {
		case "ended":
			p.Sandboxes[0].Ready = false
		case "b":
			p.Containers[1].State = "exited"
		}
	}
	got, err := r.Basic(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range got.Pods {
		names = append(names, got.Pods[i].Stats.PodRef.Name)
		for j := range got.Pods[i].Containers {
			names = append(names, got.Pods[i].Containers[j].Stats.Name)
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "main"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSummary_nodeThatIsNotMeasured(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write(t, map[string]string{"proc/meminfo": ""})
	if _, err := r.Summary(t.Context(), true); err == nil {
		t.Error("no error")
	}
	if _, err := r.Top(t.Context()); err == nil {
		t.Error("no error of top")
	}
}
