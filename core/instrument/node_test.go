package instrument

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/metrics"
)

// slowCgroups are cgroups whose calls take seconds and then fail.
type slowCgroups struct{}

func (slowCgroups) Ensure(*v1.Pod) (string, error) {
	time.Sleep(time.Second)
	return "parent", errors.ErrUnsupported
}

func (slowCgroups) End(context.Context, types.UID) error {
	time.Sleep(2 * time.Second)
	return errors.ErrUnsupported
}

func TestWhatIsDoneWithCgroupsIsTimedWellOrNot(t *testing.T) {
	t.Parallel()
	m := newTestMeters()
	c := Cgroups{slowCgroups{}, m.Cgroups}
	synctest.Test(t, func(t *testing.T) {
		if parent, err := c.Ensure(nil); parent != "parent" || !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%q, %v", parent, err)
		}
		if err := c.Remove(t.Context(), "u"); !errors.Is(err, errors.ErrUnsupported) {
			t.Error(err)
		}
	})
	want := []string{
		`kubelet_cgroup_manager_duration_seconds_sum{operation_type="create"} 1`, `kubelet_cgroup_manager_duration_seconds_count{operation_type="create"} 1`,
		`kubelet_cgroup_manager_duration_seconds_sum{operation_type="destroy"} 2`, `kubelet_cgroup_manager_duration_seconds_count{operation_type="destroy"} 1`,
		"kubelet_cgroup_version 1",
	}
	if diff := cmp.Diff(want, measured(t, m.Metrics.Handler(), "kubelet_cgroup")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	two := New(Options{Node: "edge", CgroupV2: true, Logger: slog.New(slog.DiscardHandler)})
	if got := measured(t, two.Metrics.Handler(), "kubelet_cgroup_version"); !slices.Equal(got, []string{"kubelet_cgroup_version 2"}) {
		t.Errorf("version %q", got)
	}
}

func TestPodsThatGiveWayAreCountedByWhatThereIsTooLittleOf(t *testing.T) {
	t.Parallel()
	machine := &v1.Node{Status: v1.NodeStatus{Allocatable: v1.ResourceList{
		"pods": resource.MustParse("3"), "cpu": resource.MustParse("4"), "memory": resource.MustParse("4Gi"),
	}}}
	asks := func(name, cpu, memory string) *v1.Pod {
		p := meteredPod(types.UID(name), "shop", "static")
		p.Spec.Containers = []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
			"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory),
		}}}}
		return p
	}
	for name, test := range map[string]struct {
		critical, wide bool
		asks           *v1.Pod
		others, ending []*v1.Pod
		want           []string
	}{
		"nobody, for there is room": {critical: true, asks: asks("dns", "1", "1Gi"), others: []*v1.Pod{asks("a", "1", "1Gi")}},
		"nobody, for one that is not critical": {
			asks: asks("dns", "1", "4Gi"), others: []*v1.Pod{asks("a", "1", "1Gi")},
		},
		"nobody, for those that leave are enough": {
			critical: true, asks: asks("dns", "1", "4Gi"), ending: []*v1.Pod{asks("a", "1", "1Gi")},
		},
		"one, for its memory": {
			critical: true, asks: asks("dns", "1", "4Gi"), others: []*v1.Pod{asks("a", "1", "1Gi")},
			want: []string{`kubelet_preemptions{preemption_signal="memory"} 1`},
		},
		"two, for cpu and memory, of which cpu comes first": {
			critical: true, asks: asks("dns", "4", "4Gi"), others: []*v1.Pod{asks("a", "1", "1Gi"), asks("b", "1", "1Gi")},
			want: []string{`kubelet_preemptions{preemption_signal="cpu"} 2`},
		},
		"one, for there are too many pods": {
			critical: true, asks: asks("dns", "1", "1Gi"), others: []*v1.Pod{asks("a", "1", "1Gi"), asks("b", "1", "1Gi"), asks("c", "1", "1Gi")},
			want: []string{`kubelet_preemptions{preemption_signal="pods"} 1`},
		},
		"one, for a pod that its priority makes critical": {
			wide: true, asks: asks("dns", "1", "4Gi"), others: []*v1.Pod{asks("a", "1", "1Gi")},
			want: []string{`kubelet_preemptions{preemption_signal="memory"} 1`},
		},
		"nobody, for the pod would not fit even then": {critical: true, asks: asks("dns", "1", "5Gi"), others: []*v1.Pod{asks("a", "1", "1Gi")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := func() *v1.Node { return machine }
			fit := admission.Fit{Node: node}
			if test.critical {
				fit.Critical.Named = func(p *v1.Pod) bool { return p == test.asks }
			}
			if test.wide {
				test.asks.Spec.Priority = new(int32(2_000_000_000))
			}
			m := metrics.New("edge", "", slog.New(slog.DiscardHandler))
			counted := Admitter{admission.Chain{admission.StoredVerdict{}, fit}, admission.Fit{Node: node}, m.Rejections()}
			a := &admission.Attributes{Pod: test.asks, Others: test.others, Ending: test.ending}
			before := test.asks.DeepCopy()
			r, plain := counted.Admit(a), fit.Admit(a)
			if diff := cmp.Diff(plain, r); diff != "" {
				t.Errorf("answer (-plain +counted):\n%s", diff)
			}
			if diff := cmp.Diff(before, a.Pod); diff != "" {
				t.Errorf("the pod was changed (-before +after):\n%s", diff)
			}
			if got := measured(t, m.Handler(), "kubelet_preemptions"); !slices.Equal(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
