package node

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// newPod returns a pod with one container per pair of resources. The first text of a pair has the
// requests as "cpu memory", the second one has the limits. "-" stands for none.
func newPod(uid types.UID, containers ...[2]string) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid}}
	for _, c := range containers {
		p.Spec.Containers = append(p.Spec.Containers, v1.Container{
			Resources: v1.ResourceRequirements{Requests: list(c[0]), Limits: list(c[1])},
		})
	}
	return p
}

func list(text string) v1.ResourceList {
	cpu, memory, _ := strings.Cut(text, " ")
	l := v1.ResourceList{}
	if cpu != "-" {
		l[v1.ResourceCPU] = resource.MustParse(cpu)
	}
	if memory != "-" {
		l[v1.ResourceMemory] = resource.MustParse(memory)
	}
	return l
}

func TestLimitsOf(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		class      v1.PodQOSClass
		containers [][2]string
		want       limits
	}{
		"best effort has the least shares": {
			v1.PodQOSBestEffort,
			[][2]string{{"- -", "- -"}},
			limits{shares: 2},
		},
		"guaranteed": {
			v1.PodQOSGuaranteed,
			[][2]string{{"500m 64Mi", "500m 64Mi"}, {"1 64Mi", "1 64Mi"}},
			limits{shares: 1536, quota: 150_000, memory: 128 << 20, request: 128 << 20},
		},
		"burstable without limits": {
			v1.PodQOSBurstable,
			[][2]string{{"250m 64Mi", "- -"}},
			limits{shares: 256, request: 64 << 20},
		},
		"a container without a limit leaves the pod without": {
			v1.PodQOSBurstable,
			[][2]string{{"100m 1Mi", "200m -"}, {"100m 1Mi", "- 64Mi"}},
			limits{shares: 204, request: 2 << 20},
		},
		"memory may be limited where CPU is not": {
			v1.PodQOSBurstable,
			[][2]string{{"100m 1Mi", "- 32Mi"}, {"100m 1Mi", "1 64Mi"}},
			limits{shares: 204, memory: 96 << 20, request: 2 << 20},
		},
		"more than can be counted": {
			v1.PodQOSGuaranteed,
			[][2]string{{"1e30 9Ei", "18446744073709552 9Ei"}, {"1e30 9Ei", "1 9Ei"}},
			limits{shares: 262144, quota: 100_000_000_000, memory: math.MaxInt64, request: math.MaxInt64},
		},
		"the least": {
			v1.PodQOSBurstable,
			[][2]string{{"1m -", "5m -"}},
			limits{shares: 2, quota: 1000},
		},
		"the most": {
			v1.PodQOSBurstable,
			[][2]string{{"1000 -", "- -"}},
			limits{shares: 262144},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := limitsOf(newPod("u", tt.containers...), tt.class)
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(limits{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestEnsure_reservesMemory(t *testing.T) {
	t.Parallel()
	_, fs := newFake(t, mountinfoV2)
	b := Bounds{ReserveMemory: true}
	c, err := newCgroups(DriverCgroupfs, "/wardlet/kubepods", b, fs, nil)
	if err != nil {
		t.Fatal(err)
	}
	ensure := func(c *Cgroups, p *v1.Pod) {
		t.Helper()
		if _, err := c.Ensure(p); err != nil {
			t.Fatal(err)
		}
	}
	want := func(dir string, hard, soft int64) {
		t.Helper()
		for name, want := range map[string]int64{"memory.min": hard, "memory.low": soft} {
			if got, err := number(filepath.Join(fs.root, "sys/fs/cgroup/wardlet/kubepods", dir, name)); err != nil || got != want {
				t.Errorf("%s of %q is %d, %v, want %d", name, dir, got, err, want)
			}
		}
	}
	ensure(c, newPod("g", [2]string{"1 64Mi", "1 64Mi"}))
	ensure(c, newPod("b", [2]string{"100m 32Mi", "- -"}))
	restarted, err := newCgroups(DriverCgroupfs, "/wardlet/kubepods", b, fs, nil)
	if err != nil {
		t.Fatal(err)
	}
	ensure(restarted, newPod("n", [2]string{"- 8Mi", "- -"}))
	ensure(restarted, newPod("e", [2]string{"- -", "- -"}))
	want("", 104<<20, 0)
	want("podg", 64<<20, 0)
	want("burstable", 0, 40<<20)
	want("burstable/podb", 0, 32<<20)
	want("burstable/podn", 0, 8<<20)
	want("besteffort/pode", 0, 0)
	_, fs = newFake(t, mountinfoV1)
	if _, err := newCgroups(DriverCgroupfs, "/wardlet/kubepods", b, fs, nil); err == nil || !strings.Contains(err.Error(), "needs cgroup v2") {
		t.Errorf("with cgroup v1: %v", err)
	}
}

func TestLimitsOf_ofTheWholePodWin(t *testing.T) {
	t.Parallel()
	p := newPod("u", [2]string{"100m 1Mi", "- -"}, [2]string{"100m 1Mi", "- 64Mi"})
	p.Spec.Resources = &v1.ResourceRequirements{Requests: list("500m -"), Limits: list("1 -")}
	p.Spec.Containers[0].Resources.Requests["hugepages-2Mi"] = resource.MustParse("4Mi")
	p.Spec.Containers[1].Resources.Requests["hugepages-2Mi"] = resource.MustParse("2Mi")
	want := limits{shares: 512, quota: 100_000, request: 2 << 20, hugePages: map[int64]int64{2 << 20: 6 << 20}}
	if diff := cmp.Diff(want, limitsOf(p, v1.PodQOSBurstable), cmp.AllowUnexported(limits{})); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
}

func TestLimitsOf_countsTheOverhead(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		class             v1.PodQOSClass
		requests, limited string
		want              limits
	}{
		"beside what is requested, and on top of the limits": {
			v1.PodQOSBurstable, "500m 64Mi", "1 64Mi", limits{shares: 1024, quota: 150_000, memory: 96 << 20, request: 96 << 20},
		},
		"where there is a limit": {v1.PodQOSBurstable, "500m 64Mi", "- 64Mi", limits{shares: 1024, memory: 96 << 20, request: 96 << 20}},
		"not of best effort":     {v1.PodQOSBestEffort, "- -", "- -", limits{shares: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPod("u", [2]string{test.requests, test.limited})
			p.Spec.Overhead = list("500m 32Mi")
			if diff := cmp.Diff(test.want, limitsOf(p, test.class), cmp.AllowUnexported(limits{})); diff != "" {
				t.Errorf("limits (-want +got):\n%s", diff)
			}
		})
	}
}
