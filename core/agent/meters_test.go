package agent

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/metrics"
	"github.com/wardlet/wardlet/core/status"
)

func TestWhatTheRuntimeShowsIsCounted(t *testing.T) {
	t.Parallel()
	c := metrics.PodCounts{Containers: map[string]int{}}
	for _, p := range []status.ObservedPod{
		{Sandboxes: []status.ObservedSandbox{{Ready: true}, {Ready: true}}, Containers: []status.ObservedContainer{{State: status.StateRunning}, {State: status.StateExited}}},
		{Sandboxes: []status.ObservedSandbox{{}}, Containers: []status.ObservedContainer{{State: status.StateExited}}},
	} {
		countObserved(&c, &p)
	}
	if want := (metrics.PodCounts{Running: 1, Containers: map[string]int{"running": 1, "exited": 2}}); cmp.Diff(want, c) != "" {
		t.Errorf("(-want +got):\n%s", cmp.Diff(want, c))
	}
}
