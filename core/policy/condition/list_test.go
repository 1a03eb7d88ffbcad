package condition

import (
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestGoingThroughObjectsCostsOnlyThoseThatAreLookedAt is not parallel: it measures what the
// whole process allocates.
func TestGoingThroughObjectsCostsOnlyThoseThatAreLookedAt(t *testing.T) {
	p := webPod()
	p.Spec.Containers = make([]corev1.Container, 100_000)
	c := compiled(t, "object.spec.containers.exists(c, c.name == '')")
	in := NewInput(Request{Object: p})
	allocated := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.TotalAlloc
	}
	if ok, _, err := c.Matches(in); !ok || err != nil {
		t.Fatalf("%t, %v", ok, err)
	}
	before := allocated()
	const times = 10
	for range times {
		_, _, _ = c.Matches(in)
	}
	if bytes := (allocated() - before) / times; bytes > 4096 {
		t.Errorf("%d bytes for one container of many", bytes)
	}
}
