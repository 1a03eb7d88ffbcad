package agent

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/eviction"
	"github.com/wardlet/wardlet/core/eviction/threshold"
	"github.com/wardlet/wardlet/core/node"
	"github.com/wardlet/wardlet/core/syncloop"
)

// fullNode is a node without memory, disk space and process IDs for the first minute, and without
// pods.
type fullNode struct{ began time.Time }

func (n fullNode) Observe(context.Context) eviction.Observations {
	o := eviction.Observation{Available: 1, Capacity: 1000}
	if time.Since(n.began) >= time.Minute {
		o.Available = 1000
	}
	return eviction.Observations{threshold.MemoryAvailable: o, threshold.NodeFSAvailable: o, threshold.PIDAvailable: o}
}

func (fullNode) DedicatedImageFS() bool { return false }

func (fullNode) Usage(context.Context, []*v1.Pod, threshold.Signal) map[types.UID]eviction.Usage {
	return nil
}

func (fullNode) Active() []*v1.Pod { return nil }

func (fullNode) Evict(*v1.Pod, int64, string, map[string]string) {}

func (fullNode) CleanedUp(types.UID) bool { return true }

func TestPressureChanged_isShownAndRefusesPods(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		full := fullNode{time.Now()}
		n := &Node{Agent: &Agent{loop: syncloop.New(syncloop.Config{})}, cfg: config.Default(), node: "edge", object: node.NewObject(&v1.Node{})}
		all, faults := threshold.Parse(&threshold.Settings{Hard: map[string]string{"memory.available": "10%", "nodefs.available": "5%", "pid.available": "7"}})
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		n.eviction = eviction.New(eviction.Config{
			Thresholds: all, Transition: time.Second, Node: full, Pods: full, Critical: func(*v1.Pod) bool { return false },
			NodeEvent: func(string, string) {}, Changed: n.pressureChanged, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		})
		n.showPressure()
		shown := func() string {
			var text strings.Builder
			for _, c := range n.object.Node().Status.Conditions {
				fmt.Fprintf(&text, "%s %s %s %s; ", c.Type, c.Status, c.Reason, c.Message)
			}
			return text.String()
		}
		const well = "MemoryPressure False KubeletHasSufficientMemory kubelet has sufficient memory available; " +
			"DiskPressure False KubeletHasNoDiskPressure kubelet has no disk pressure; PIDPressure False KubeletHasSufficientPID kubelet has sufficient PID available; "
		expect := func(want, refusal string) {
			t.Helper()
			if got := shown(); got != want {
				t.Errorf("conditions\n%s\nwant\n%s", got, want)
			}
			if r := n.pressure().Admit(&admission.Attributes{Pod: &v1.Pod{}}); r.Message != refusal || r.Admitted != (refusal == "") {
				t.Errorf("a pod: %+v, want %q", r, refusal)
			}
		}
		expect(well, "")
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { n.eviction.Run(ctx) })
		synctest.Wait()
		expect("MemoryPressure True KubeletHasInsufficientMemory memory.available is less than 10%; DiskPressure True KubeletHasDiskPressure nodefs.available is less than 5%; "+
			"PIDPressure True KubeletHasInsufficientPID pid.available is less than 7; ", "The node had condition: [DiskPressure MemoryPressure PIDPressure]. ")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		expect(well, "")
		cancel()
		running.Wait()
	})
}

func TestKeepFree(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		settings        threshold.Settings
		memory, storage string
	}{
		"none":              {threshold.Settings{}, "7Gi", "90Gi"},
		"a kubelet's":       {threshold.Settings{Hard: threshold.DefaultHard()}, "7068Mi", "85899345760"},
		"of other signals":  {threshold.Settings{Hard: map[string]string{"imagefs.available": "50%", "pid.available": "50%"}}, "7Gi", "90Gi"},
		"soft":              {threshold.Settings{Soft: map[string]string{"memory.available": "1Gi"}, SoftGracePeriod: map[string]time.Duration{"memory.available": time.Second}}, "7Gi", "90Gi"},
		"more than is left": {threshold.Settings{Hard: map[string]string{"memory.available": "1Ei", "nodefs.available": "95%"}}, "0", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, faults := threshold.Parse(&test.settings)
			if len(faults) > 0 {
				t.Fatal(faults)
			}
			amounts := func(memory, storage string) v1.ResourceList {
				return v1.ResourceList{v1.ResourceMemory: resource.MustParse(memory), v1.ResourceEphemeralStorage: resource.MustParse(storage)}
			}
			st := &v1.NodeStatus{Capacity: amounts("8Gi", "100Gi"), Allocatable: amounts("7Gi", "90Gi")}
			keepFree(st, all)
			for resourceName, want := range amounts(test.memory, test.storage) {
				if got := st.Allocatable[resourceName]; got.Cmp(want) != 0 {
					t.Errorf("%s: %s, want %s", resourceName, got.String(), want.String())
				}
			}
		})
	}
}
