package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
)

func TestFinish(t *testing.T) {
	t.Parallel()
	killed := func(name string) v1.ContainerStatus {
		return v1.ContainerStatus{Name: name, State: lost(), Started: new(false)}
	}
	type statuses = []v1.ContainerStatus
	tests := []struct {
		name         string
		source       string
		init         v1.ConditionStatus // of a pod with init containers
		phase        v1.PodPhase
		statuses     statuses
		want         v1.PodPhase
		wantStatuses statuses
	}{
		{"a running pod has failed, what was not seen to end was killed", "", "", v1.PodRunning, statuses{ready(isRunning("a")), hasEnded("b", 0)}, v1.PodFailed, statuses{killed("a"), hasEnded("b", 0)}},
		{"a pending pod has failed", "api", "", v1.PodPending, statuses{isWaiting("a", "ErrImagePull")}, v1.PodFailed, statuses{killed("a")}},
		{"a pod without a phase has failed", "", "", "", nil, v1.PodFailed, nil},
		{"success stays", "", "", v1.PodSucceeded, statuses{hasEnded("a", 0)}, v1.PodSucceeded, statuses{hasEnded("a", 0)}},
		{"failure stays", "", "", v1.PodFailed, statuses{hasEnded("a", 3)}, v1.PodFailed, statuses{hasEnded("a", 3)}},
		{"a static pod keeps its phase", "file", "", v1.PodRunning, statuses{isRunning("a")}, v1.PodRunning, statuses{killed("a")}},
		{"before initialisation containers stay as they are", "", "False", v1.PodPending, statuses{isWaiting("a", "PodInitializing")}, v1.PodFailed, statuses{isWaiting("a", "PodInitializing")}},
		{"after initialisation they do not", "", "True", v1.PodRunning, statuses{isWaiting("a", "PodInitializing")}, v1.PodFailed, statuses{killed("a")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := testPod(v1.RestartPolicyAlways, tt.source, "a", "b")
			st := v1.PodStatus{Phase: tt.phase, ContainerStatuses: tt.statuses}
			if tt.init != "" {
				p.Spec.InitContainers = make([]v1.Container, 1)
				st.Conditions = []v1.PodCondition{{Type: v1.PodInitialized, Status: tt.init}}
			}
			before := st.DeepCopy()
			got := Finish(p, st)
			if got.Phase != tt.want {
				t.Errorf("phase = %s, want %s", got.Phase, tt.want)
			}
			if d := cmp.Diff(tt.wantStatuses, got.ContainerStatuses); d != "" {
				t.Errorf("containers (-want +got):\n%s", d)
			}
			if d := cmp.Diff(*before, st); d != "" {
				t.Errorf("the status passed in was changed:\n%s", d)
			}
		})
	}
}
