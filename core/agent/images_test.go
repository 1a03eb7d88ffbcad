package agent

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/image"
)

func TestExplainPulls(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	waiting := func(name, reason, message string) v1.ContainerStatus {
		return v1.ContainerStatus{Name: name, State: v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: reason, Message: message}}}
	}
	running := v1.ContainerStatus{Name: "running", State: v1.ContainerState{Running: &v1.ContainerStateRunning{}}}
	pull := func(container string) image.Pull {
		return image.Pull{Image: "registry.example/app:1", Container: container, Since: now.Add(-3 * time.Minute), Began: now.Add(-130 * time.Second), Grown: 35<<20 + 17}
	}
	turn := pull("main")
	turn.Began, turn.Grown = time.Time{}, 0
	const pulling = `pulling image "registry.example/app:1" for 2m10s; the image file system grew by 35 MiB meanwhile`
	for name, test := range map[string]struct {
		pulls []image.Pull
		init  []v1.ContainerStatus
		main  []v1.ContainerStatus
		want  v1.PodStatus
	}{
		"a container that is being made": {
			pulls: []image.Pull{pull("main")}, main: []v1.ContainerStatus{waiting("other", reasonCreating, ""), waiting("main", reasonCreating, "")},
			want: v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{waiting("other", reasonCreating, ""), waiting("main", reasonCreating, pulling)}},
		},
		"an init container": {
			pulls: []image.Pull{pull("first")}, init: []v1.ContainerStatus{waiting("first", reasonInitializing, "")},
			want: v1.PodStatus{InitContainerStatuses: []v1.ContainerStatus{waiting("first", reasonInitializing, pulling)}},
		},
		"one whose turn has not come": {
			pulls: []image.Pull{turn}, main: []v1.ContainerStatus{waiting("main", reasonCreating, "")},
			want: v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{waiting("main", reasonCreating, `waiting for 3m0s for its turn to pull image "registry.example/app:1"`)}},
		},
		"one that says why it waits": {
			pulls: []image.Pull{pull("main")}, main: []v1.ContainerStatus{waiting("main", "CrashLoopBackOff", "x")},
			want: v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{waiting("main", "CrashLoopBackOff", "x")}},
		},
		"one that runs": {
			pulls: []image.Pull{pull("running"), pull("gone")}, main: []v1.ContainerStatus{running}, want: v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{running}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := append([]v1.ContainerStatus(nil), test.main...)
			st := v1.PodStatus{InitContainerStatuses: test.init, ContainerStatuses: test.main}
			explainPulls(&st, test.pulls, now)
			if diff := cmp.Diff(test.want, st); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, test.main); diff != "" {
				t.Errorf("the shared status is changed: %s", diff)
			}
		})
	}
}
