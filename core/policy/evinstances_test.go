package policy

import (
	"fmt"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

// TestAPodsInstanceIsToldOnce is not parallel: it counts allocations.
func TestAPodsInstanceIsToldOnce(t *testing.T) {
	var known instances
	p := policytest.SomePod("web")
	want, err := pod.Instance(p)
	policytest.Must(t, err)
	for range 2 {
		if got, err := known.of(p, nil); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if n := len(known.known); n != 1 {
		t.Errorf("%d pods are remembered", n)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = known.of(p, nil) }); n > 0 {
		t.Errorf("the second time allocates %v times: it is told again", n)
	}
}

func TestAnotherPodIsAnotherInstance(t *testing.T) {
	t.Parallel()
	var known instances
	told := map[string]bool{}
	for _, image := range []string{"a", "b"} {
		p := policytest.SomePod("web", func(p *v1.Pod) { p.Spec.Containers[0].Image = image })
		instance, err := known.of(p, nil)
		policytest.Must(t, err)
		told[instance] = true
	}
	if len(told) != 2 {
		t.Errorf("two pods are %d instances", len(told))
	}
}

func TestRememberedInstancesAreBounded(t *testing.T) {
	t.Parallel()
	var known instances
	var asking sync.WaitGroup
	for i := range 4 {
		asking.Go(func() {
			for j := range maxInstances / 2 {
				p := policytest.SomePod(fmt.Sprintf("web-%d-%d", i, j))
				want, _ := pod.Instance(p)
				if got, err := known.of(p, nil); err != nil || got != want {
					t.Errorf("got %q, %v, want %q", got, err, want)
				}
			}
		})
	}
	asking.Wait()
	if n := len(known.known); n == 0 || n > maxInstances {
		t.Errorf("%d pods are remembered, at most %d may be", n, maxInstances)
	}
}
