package status

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// made adds to a container status the fields of a container that was created.
func made(st v1.ContainerStatus, restarts int32) v1.ContainerStatus {
	st.ContainerID, st.Image, st.ImageID, st.RestartCount = "containerd://"+st.Name, "img:1", "sha256:1", restarts
	st.User = &v1.ContainerUser{Linux: &v1.LinuxContainerUser{UID: 1}}
	return st
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	started := metav1.NewTime(noon)
	precise := metav1.NewTime(noon.Add(time.Millisecond))
	end := v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
		ExitCode: 3, Reason: "Error", Message: "bye", StartedAt: precise, FinishedAt: precise, ContainerID: "containerd://a",
	}}
	for name, tc := range map[string]struct {
		status, want v1.PodStatus
	}{
		"of a pod that runs only the restart counts are kept": {
			status: v1.PodStatus{
				Phase: v1.PodRunning, Reason: "R", Message: "m", StartTime: &started, PodIP: "10.0.0.9",
				Conditions:        []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue}},
				ContainerStatuses: []v1.ContainerStatus{made(isRunning("a"), 0), made(waitsAfter("b", 1), 7)},
			},
			want: v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{{Name: "a"}, {Name: "b", RestartCount: 7}}},
		},
		"a restart that is still to come does not count": {
			status: v1.PodStatus{
				Phase:             v1.PodPending,
				ContainerStatuses: []v1.ContainerStatus{{Name: "a", RestartCount: 8, State: isWaiting("a", "ContainerCreating").State}},
			},
		},
		"of a pod that has ended its end is kept, to the second": {
			status: v1.PodStatus{
				Phase: v1.PodFailed, Reason: "Evicted", Message: "low on memory", StartTime: &precise, PodIP: "10.0.0.9",
				ContainerStatuses: []v1.ContainerStatus{
					{Name: "b"},
					{
						Name: "a", State: end, LastTerminationState: end, RestartCount: 2,
						Image: "img:1", ImageID: "sha256:1", ContainerID: "containerd://a", Started: new(false),
						User: &v1.ContainerUser{Linux: &v1.LinuxContainerUser{UID: 1}},
					},
				},
			},
			want: v1.PodStatus{
				Phase: v1.PodFailed, Reason: "Evicted", Message: "low on memory", StartTime: &started,
				ContainerStatuses: []v1.ContainerStatus{
					{
						Name: "a", RestartCount: 2, Image: "img:1", ImageID: "sha256:1", ContainerID: "containerd://a",
						User: &v1.ContainerUser{Linux: &v1.LinuxContainerUser{UID: 1}},
						State: v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
							ExitCode: 3, Reason: "Error", Message: "bye", StartedAt: started, FinishedAt: started, ContainerID: "containerd://a",
						}},
					},
					{Name: "b"},
				},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := tc.status.DeepCopy()
			if d := cmp.Diff(tc.want, Outcome(testPod(v1.RestartPolicyAlways, "", "a", "b"), &tc.status)); d != "" {
				t.Errorf("outcome (-want +got):\n%s", d)
			}
			if d := cmp.Diff(before, &tc.status); d != "" {
				t.Errorf("the status was changed (-before +after):\n%s", d)
			}
		})
	}
}

func TestResume(t *testing.T) {
	t.Parallel()
	started, later := metav1.NewTime(noon), metav1.NewTime(noon.Add(time.Hour))
	ended := func(restarts int32) v1.ContainerStatus {
		st := made(hasEnded("a", 0), restarts)
		st.Started = new(false)
		return st
	}
	creating := isWaiting("a", "ContainerCreating")
	creating.Image, creating.RestartCount = "img", 5
	for name, tc := range map[string]struct {
		api, kept, want v1.PodStatus
	}{
		"restart counts go on": {
			kept: v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{{Name: "a", RestartCount: 5}}},
			want: v1.PodStatus{Phase: v1.PodPending, ContainerStatuses: []v1.ContainerStatus{creating}},
		},
		"a pod that ended has ended as it did": {
			kept: v1.PodStatus{
				Phase: v1.PodSucceeded, Reason: "R", Message: "m", StartTime: &started,
				ContainerStatuses: []v1.ContainerStatus{made(hasEnded("a", 0), 1)},
			},
			want: v1.PodStatus{
				Phase: v1.PodSucceeded, Reason: "R", Message: "m", StartTime: &started,
				ContainerStatuses: []v1.ContainerStatus{ended(1)},
			},
		},
		"the rest is the API server's": {
			api: v1.PodStatus{
				Phase: v1.PodRunning, StartTime: &later, HostIP: "10.0.0.1",
				ContainerStatuses: []v1.ContainerStatus{made(isRunning("a"), 6)},
			},
			kept: v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{{Name: "a", RestartCount: 5}}},
			want: v1.PodStatus{
				Phase: v1.PodRunning, StartTime: &later, HostIP: "10.0.0.1",
				ContainerStatuses: []v1.ContainerStatus{made(isRunning("a"), 6)},
			},
		},
		"the API server's end is the one that counts": {
			api:  v1.PodStatus{Phase: v1.PodFailed, Reason: "Evicted"},
			kept: v1.PodStatus{Phase: v1.PodSucceeded},
			want: v1.PodStatus{Phase: v1.PodFailed, Reason: "Evicted"},
		},
		"containers that are not in the spec any more are left out": {
			kept: v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{{Name: "old", RestartCount: 5}}},
			want: v1.PodStatus{Phase: v1.PodPending},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := testPod(v1.RestartPolicyAlways, "file", "a")
			p.Status = tc.api
			tc.want.QOSClass = v1.PodQOSBestEffort
			before, kept := p.DeepCopy(), tc.kept.DeepCopy()
			if d := cmp.Diff(tc.want, Resume(p, &tc.kept)); d != "" {
				t.Errorf("status (-want +got):\n%s", d)
			}
			if d := cmp.Diff(before, p) + cmp.Diff(kept, &tc.kept); d != "" {
				t.Errorf("what it was made from was changed (-before +after):\n%s", d)
			}
		})
	}
}

// A restart of the agent keeps the outcome of a pod, even if the runtime has lost the pod's
// containers.
func TestAnOutcomeOutlivesTheRuntime(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		policy     v1.RestartPolicy
		containers []ObservedContainer
		phase      v1.PodPhase
		same       bool // the statuses of the containers are the same, too
	}{
		"succeeded":      {v1.RestartPolicyOnFailure, []ObservedContainer{instance("a", 2, StateExited, 0)}, v1.PodSucceeded, true},
		"failed":         {v1.RestartPolicyNever, []ObservedContainer{instance("a", 2, StateExited, 4)}, v1.PodFailed, true},
		"still to start": {v1.RestartPolicyAlways, []ObservedContainer{instance("a", 2, StateExited, 4)}, v1.PodPending, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := testPod(tc.policy, "file", "a")
			before := Generate(Input{Pod: p, Observed: observed(tc.containers...), Now: noon, RuntimeName: "containerd"})
			kept := Outcome(p, &before)
			after := Generate(Input{Pod: p, Previous: Resume(p, &kept), Now: noon.Add(time.Hour), RuntimeName: "containerd"})
			if after.Phase != tc.phase {
				t.Errorf("phase = %s, want %s", after.Phase, tc.phase)
			}
			if got := after.ContainerStatuses[0].RestartCount; got != 2 {
				t.Errorf("restart count = %d, want 2", got)
			}
			if !tc.same {
				return
			}
			if d := cmp.Diff(before.ContainerStatuses, after.ContainerStatuses); d != "" {
				t.Errorf("containers (-before +after):\n%s", d)
			}
			if again := Outcome(p, &after); cmp.Diff(kept, again) != "" {
				t.Errorf("there is another outcome to be written (-before +after):\n%s", cmp.Diff(kept, again))
			}
		})
	}
}

// A container that was ready when the agent stopped is ready when the next agent starts. The
// container that runs after it is not.
func TestResume_probes(t *testing.T) {
	t.Parallel()
	p := testPod(v1.RestartPolicyAlways, "file", "a")
	p.Spec.Containers[0].ReadinessProbe, p.Spec.Containers[0].StartupProbe = &v1.Probe{}, &v1.Probe{}
	before := Generate(Input{Pod: p, Observed: observed(instance("a", 0, StateRunning, 0)), Now: noon, RuntimeName: "containerd"})
	before.ContainerStatuses[0].Ready, before.ContainerStatuses[0].Started = true, new(true)
	for _, phase := range []v1.PodPhase{v1.PodRunning, v1.PodFailed} { // a failed pod may still have running containers
		before.Phase = phase
		kept := Outcome(p, &before)
		for attempt, want := range map[uint32]bool{0: true, 1: false} {
			after := Generate(Input{
				Pod: p, Previous: Resume(p, &kept), Observed: observed(instance("a", attempt, StateRunning, 0)), Now: noon, RuntimeName: "containerd",
			})
			if c := after.ContainerStatuses[0]; c.Ready != want || *c.Started != want {
				t.Errorf("%s, instance %d: ready %v, started %v", phase, attempt, c.Ready, *c.Started)
			}
		}
	}
}
