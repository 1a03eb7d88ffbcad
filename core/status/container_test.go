package status

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/pod"
)

func TestContainerStatus(t *testing.T) {
	t.Parallel()
	yes, no := new(true), new(false)
	waiting := func(reason, message string) v1.ContainerState {
		return v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: reason, Message: message}}
	}
	running := v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: metav1.NewTime(noon)}}
	exited := func(id string, code int32) v1.ContainerState {
		return v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
			ExitCode: code, Reason: "Error", StartedAt: metav1.NewTime(noon),
			FinishedAt: metav1.NewTime(noon.Add(time.Minute)), ContainerID: "containerd://" + id,
		}}
	}
	// full returns a status with everything that the runtime reports about an instance.
	full := func(id string, restarts int32, state, last v1.ContainerState, up *bool) v1.ContainerStatus {
		return v1.ContainerStatus{
			Name: "a", Image: "img:1", ImageID: "sha256:1", ContainerID: "containerd://" + id, RestartCount: restarts,
			State: state, LastTerminationState: last, Ready: *up, Started: up,
		}
	}
	bare := func(restarts int32, state, last v1.ContainerState) v1.ContainerStatus {
		return v1.ContainerStatus{
			Name: "a", Image: "img", RestartCount: restarts,
			State: state, LastTerminationState: last, Started: no,
		}
	}
	var none v1.ContainerState
	crash := map[string]Reason{"a": {Reason: "CrashLoopBackOff", Message: "back-off 10s"}}

	tests := []struct {
		name     string
		observed []ObservedContainer
		old      *v1.ContainerStatus
		reasons  map[string]Reason
		edit     func(*Input)
		want     v1.ContainerStatus
	}{
		{
			name: "not made yet: being created",
			want: bare(0, waiting("ContainerCreating", ""), none),
		}, {
			name: "not made yet, behind init containers: initialising",
			edit: func(in *Input) { in.Pod.Spec.InitContainers = make([]v1.Container, 1) },
			want: bare(0, waiting("PodInitializing", ""), none),
		}, {
			name: "not made yet: restarts and last end are carried on",
			old:  new(bare(3, waiting("x", ""), exited("a-2", 1))),
			want: bare(3, waiting("ContainerCreating", ""), exited("a-2", 1)),
		}, {
			name:     "runs",
			observed: []ObservedContainer{instance("a", 0, StateRunning, 0)},
			want:     full("a-0", 0, running, none, yes),
		}, {
			name: "the image of the spec stands in for one the runtime does not name",
			observed: func() []ObservedContainer {
				o := instance("a", 0, StateRunning, 0)
				o.Image = ""
				return []ObservedContainer{o}
			}(),
			want: func() v1.ContainerStatus {
				st := full("a-0", 0, running, none, yes)
				st.Image = "img"
				return st
			}(),
		}, {
			name:     "made but not started waits without a reason",
			observed: []ObservedContainer{instance("a", 0, StateCreated, 0)},
			want:     full("a-0", 0, waiting("", ""), none, no),
		}, {
			name:     "has ended",
			observed: []ObservedContainer{instance("a", 0, StateExited, 2)},
			want:     full("a-0", 0, exited("a-0", 2), none, no),
		}, {
			name: "the second newest is the last end, older ones do not count",
			observed: []ObservedContainer{
				instance("a", 2, StateRunning, 0), instance("b", 7, StateExited, 9),
				instance("a", 1, StateExited, 1), instance("a", 0, StateExited, 5),
			},
			want: full("a-2", 2, running, exited("a-1", 1), yes),
		}, {
			name:     "a second newest that has not ended is no last end",
			observed: []ObservedContainer{instance("a", 1, StateRunning, 0), instance("a", 0, StateRunning, 0)},
			want:     full("a-1", 1, running, none, yes),
		}, {
			name:     "lost by the runtime while it ran: killed, and one restart more",
			observed: []ObservedContainer{instance("a", 1, StateUnknown, 0)},
			old:      new(full("a-1", 1, running, none, yes)),
			want:     full("a-1", 2, unknownTermination(), none, no),
		}, {
			name:     "lost by the runtime and reported so: stays so",
			observed: []ObservedContainer{instance("a", 1, StateUnknown, 0)},
			old:      new(full("a-1", 2, unknownTermination(), none, no)),
			want:     full("a-1", 2, unknownTermination(), none, no),
		}, {
			name:     "lost by the runtime and never seen to run: waits",
			observed: []ObservedContainer{instance("a", 1, StateUnknown, 0)},
			old:      new(full("a-0", 0, exited("a-0", 1), none, no)),
			want:     full("a-1", 1, waiting("", ""), exited("a-0", 1), no),
		}, {
			name: "vanished while it ran: killed, and one restart more",
			old:  new(full("a-1", 1, running, exited("a-0", 1), yes)),
			want: bare(2, waiting("ContainerCreating", ""), unknownTermination()),
		}, {
			name: "vanished from a pod that is being deleted: no restart more",
			old:  new(full("a-1", 1, running, none, yes)),
			edit: func(in *Input) { in.Pod.DeletionTimestamp = new(metav1.NewTime(noon)) },
			want: bare(1, waiting("ContainerCreating", ""), unknownTermination()),
		}, {
			name: "vanished from a pod that is being ended: no restart more",
			old:  new(full("a-1", 1, running, none, yes)),
			edit: func(in *Input) { in.Terminating = true },
			want: bare(1, waiting("ContainerCreating", ""), unknownTermination()),
		}, {
			name: "vanished after it had ended: stays as reported",
			old:  new(full("a-1", 1, exited("a-1", 4), none, no)),
			want: full("a-1", 1, exited("a-1", 4), none, no),
		}, {
			name:    "could not be started: says why",
			reasons: map[string]Reason{"a": {Reason: "ErrImagePull", Message: "no such image"}},
			want:    bare(0, waiting("ErrImagePull", "no such image"), none),
		}, {
			name:     "in back-off: its end becomes the last end",
			observed: []ObservedContainer{instance("a", 1, StateExited, 1), instance("a", 0, StateExited, 3)},
			reasons:  crash,
			want:     full("a-1", 1, waiting("CrashLoopBackOff", "back-off 10s"), exited("a-1", 1), no),
		}, {
			name:     "a reason does not touch what runs",
			observed: []ObservedContainer{instance("a", 1, StateRunning, 0)},
			reasons:  crash,
			want:     full("a-1", 1, running, none, yes),
		}, {
			name:     "a reason does not touch what may not run again",
			observed: []ObservedContainer{instance("a", 1, StateExited, 1)},
			reasons:  crash,
			edit:     func(in *Input) { in.Pod.Spec.RestartPolicy = v1.RestartPolicyNever },
			want:     full("a-1", 1, exited("a-1", 1), none, no),
		}, {
			name:     "a reason does not touch a pod that is being ended",
			observed: []ObservedContainer{instance("a", 1, StateExited, 1)},
			reasons:  crash,
			edit:     func(in *Input) { in.Terminal = true },
			want:     full("a-1", 1, exited("a-1", 1), none, no),
		}, {
			name:     "runs again, and the runtime does not show the instance before",
			observed: []ObservedContainer{instance("a", 2, StateRunning, 0)},
			old:      new(full("a-1", 1, exited("a-1", 1), exited("a-0", 1), no)),
			want:     full("a-2", 2, running, exited("a-1", 1), yes),
		}, {
			name:     "goes on running, and the runtime does not show the instance before",
			observed: []ObservedContainer{instance("a", 2, StateRunning, 0)},
			old:      new(full("a-2", 2, running, exited("a-1", 1), yes)),
			want:     full("a-2", 2, running, exited("a-1", 1), yes),
		}, {
			name:     "its own end is not that of the instance before",
			observed: []ObservedContainer{instance("a", 2, StateExited, 1)},
			old:      new(full("a-2", 2, waiting("CrashLoopBackOff", ""), exited("a-2", 1), no)),
			want:     full("a-2", 2, exited("a-2", 1), none, no),
		}, {
			name: "has the user that the runtime shows, and the mounts of the spec",
			observed: func() []ObservedContainer {
				o := instance("a", 0, StateRunning, 0)
				o.User = &v1.LinuxContainerUser{UID: 1, GID: 2, SupplementalGroups: []int64{2, 3}}
				return []ObservedContainer{o}
			}(),
			edit: func(in *Input) {
				in.Pod.Spec.Containers[0].VolumeMounts = []v1.VolumeMount{
					{Name: "x", MountPath: "/x", SubPath: "y"}, {Name: "z", MountPath: "/z", ReadOnly: true},
				}
			},
			want: func() v1.ContainerStatus {
				st := full("a-0", 0, running, none, yes)
				st.User = &v1.ContainerUser{Linux: &v1.LinuxContainerUser{UID: 1, GID: 2, SupplementalGroups: []int64{2, 3}}}
				st.VolumeMounts = []v1.VolumeMountStatus{
					{Name: "x", MountPath: "/x"},
					{Name: "z", MountPath: "/z", ReadOnly: true, RecursiveReadOnly: new(v1.RecursiveReadOnlyDisabled)},
				}
				return st
			}(),
		}, {
			name:     "has ended, and the runtime does not show its user any more",
			observed: []ObservedContainer{instance("a", 0, StateExited, 1)},
			old: func() *v1.ContainerStatus {
				st := full("a-0", 0, running, none, yes)
				st.User = &v1.ContainerUser{Linux: &v1.LinuxContainerUser{UID: 1}}
				return &st
			}(),
			want: func() v1.ContainerStatus {
				st := full("a-0", 0, exited("a-0", 1), none, no)
				st.User = &v1.ContainerUser{Linux: &v1.LinuxContainerUser{UID: 1}}
				return st
			}(),
		}, {
			name:     "the stop signal of a container that names one",
			observed: []ObservedContainer{{ID: "a-0", Name: "a", State: StateRunning, StartedAt: noon, Image: "img:1", ImageRef: "sha256:1", StopSignal: v1.SIGUSR1}},
			edit: func(in *Input) {
				in.Pod.Spec.Containers[0].Lifecycle = &v1.Lifecycle{StopSignal: new(v1.SIGUSR1)}
			},
			want: func() v1.ContainerStatus {
				st := full("a-0", 0, running, none, yes)
				st.StopSignal = new(v1.SIGUSR1)
				return st
			}(),
		}, {
			name:     "no stop signal of a container that names none",
			observed: []ObservedContainer{{ID: "a-0", Name: "a", State: StateRunning, StartedAt: noon, Image: "img:1", ImageRef: "sha256:1", StopSignal: v1.SIGTERM}},
			want:     full("a-0", 0, running, none, yes),
		}, {
			name:    "a reason of another container does not count",
			reasons: map[string]Reason{"b": {Reason: "ErrImagePull"}},
			want:    bare(0, waiting("ContainerCreating", ""), none),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := Input{
				Pod: testPod(v1.RestartPolicyAlways, "", "a"), Observed: observed(tt.observed...),
				Reasons: tt.reasons, Now: noon, RuntimeName: "containerd",
			}
			if tt.edit != nil {
				tt.edit(&in)
			}
			got := containerStatus(&in, &in.Pod.Spec.Containers[0], pod.RegularContainer, tt.old)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("status (-want +got):\n%s", d)
			}
		})
	}
}

func TestContainerStatusesComeByName(t *testing.T) {
	t.Parallel()
	in := Input{Pod: testPod(v1.RestartPolicyAlways, "", "c", "a", "b")}
	var of v1.PodStatus
	setContainers(&in, &of)
	var got []string
	for _, st := range of.ContainerStatuses {
		got = append(got, st.Name)
	}
	if d := cmp.Diff([]string{"a", "b", "c"}, got); d != "" {
		t.Errorf("order (-want +got):\n%s", d)
	}
}
