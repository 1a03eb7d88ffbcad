package describe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func waiting(reason string) v1.ContainerState {
	return v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: reason}}
}

func terminated(reason string, code, signal int32) v1.ContainerState {
	return v1.ContainerState{Terminated: &v1.ContainerStateTerminated{Reason: reason, ExitCode: code, Signal: signal}}
}

func running() v1.ContainerState {
	return v1.ContainerState{Running: &v1.ContainerStateRunning{}}
}

// ctr returns the status of a container. The container is ready if it is running.
func ctr(name string, restarts int32, state v1.ContainerState) v1.ContainerStatus {
	st := v1.ContainerStatus{Name: name, RestartCount: restarts, State: state, Ready: state.Running != nil}
	if restarts > 0 {
		st.LastTerminationState.Terminated = &v1.ContainerStateTerminated{
			FinishedAt: metav1.NewTime(noon.Add(time.Duration(restarts) * time.Minute)),
		}
	}
	return st
}

func TestSummarize_asKubectlPrints(t *testing.T) {
	t.Parallel()
	always := v1.ContainerRestartPolicyAlways
	yes := true
	condition := func(kind v1.PodConditionType) []v1.PodCondition {
		return []v1.PodCondition{{Type: kind, Status: v1.ConditionTrue}}
	}
	deleted := metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{Time: noon}}
	one := v1.PodSpec{Containers: []v1.Container{{Name: "a"}}}
	two := v1.PodSpec{Containers: []v1.Container{{Name: "a"}, {Name: "b"}}}
	withInit := v1.PodSpec{InitContainers: []v1.Container{{Name: "i"}, {Name: "j"}}, Containers: one.Containers}
	withSidecar := v1.PodSpec{InitContainers: []v1.Container{{Name: "s", RestartPolicy: &always}, {Name: "i"}}, Containers: one.Containers}
	sidecar := ctr("s", 2, running())
	sidecar.Started = &yes
	notReady := ctr("a", 0, running())
	notReady.Ready = false

	type statuses = []v1.ContainerStatus
	for name, test := range map[string]struct {
		pod  v1.Pod
		want Summary
	}{
		"a pod without a status of its containers shows its phase": {
			v1.Pod{Spec: one, Status: v1.PodStatus{Phase: v1.PodPending}},
			Summary{Total: 1, Status: "Pending"},
		},
		"the pod's reason comes before its phase": {
			v1.Pod{Spec: one, Status: v1.PodStatus{Phase: v1.PodFailed, Reason: "Evicted"}},
			Summary{Total: 1, Status: "Evicted"},
		},
		"all ready": {
			v1.Pod{Spec: two, Status: v1.PodStatus{Phase: v1.PodRunning, ContainerStatuses: statuses{ctr("a", 0, running()), ctr("b", 0, running())}}},
			Summary{Ready: 2, Total: 2, Status: "Running"},
		},
		"a container that runs but is not ready does not count as ready": {
			v1.Pod{Spec: one, Status: v1.PodStatus{Phase: v1.PodRunning, ContainerStatuses: statuses{notReady}}},
			Summary{Total: 1, Status: "Running"},
		},
		"a waiting container gives its reason, restarts add up, the newest counts": {
			v1.Pod{Spec: two, Status: v1.PodStatus{Phase: v1.PodRunning, ContainerStatuses: statuses{ctr("a", 1, running()), ctr("b", 3, waiting("CrashLoopBackOff"))}}},
			Summary{Ready: 1, Total: 2, Status: "CrashLoopBackOff", Restarts: 4, LastRestart: noon.Add(3 * time.Minute)},
		},
		"the image cannot be pulled": {
			v1.Pod{Spec: one, Status: v1.PodStatus{Phase: v1.PodPending, ContainerStatuses: statuses{ctr("a", 0, waiting("ImagePullBackOff"))}}},
			Summary{Total: 1, Status: "ImagePullBackOff"},
		},
		"of several that do not run the first gives the status": {
			v1.Pod{Spec: two, Status: v1.PodStatus{Phase: v1.PodRunning, ContainerStatuses: statuses{ctr("a", 0, terminated("Error", 1, 0)), ctr("b", 0, waiting("ErrImagePull"))}}},
			Summary{Total: 2, Status: "Error"},
		},
		"an end without a reason gives the exit code": {
			v1.Pod{Spec: one, Status: v1.PodStatus{Phase: v1.PodFailed, ContainerStatuses: statuses{ctr("a", 0, terminated("", 7, 0))}}},
			Summary{Total: 1, Status: "ExitCode:7"},
		},
		"or the signal": {
			v1.Pod{Spec: one, Status: v1.PodStatus{Phase: v1.PodFailed, ContainerStatuses: statuses{ctr("a", 0, terminated("", 137, 9))}}},
			Summary{Total: 1, Status: "Signal:9"},
		},
		"a pod that ended well": {
			v1.Pod{Spec: one, Status: v1.PodStatus{Phase: v1.PodSucceeded, ContainerStatuses: statuses{ctr("a", 0, terminated("Completed", 0, 0))}}},
			Summary{Total: 1, Status: "Completed"},
		},
		"a pod that failed though its containers ended well": {
			v1.Pod{Spec: one, Status: v1.PodStatus{Phase: v1.PodFailed, Reason: "DeadlineExceeded", ContainerStatuses: statuses{ctr("a", 0, terminated("Completed", 0, 0))}}},
			Summary{Total: 1, Status: "DeadlineExceeded"},
		},
		"failed without a reason, though its containers ended well": {
			v1.Pod{Spec: one, Status: v1.PodStatus{Phase: v1.PodFailed, ContainerStatuses: statuses{ctr("a", 0, terminated("Completed", 0, 0))}}},
			Summary{Total: 1, Status: "Failed"},
		},
		"one container completed, and one that failed counts": {
			v1.Pod{Spec: two, Status: v1.PodStatus{Phase: v1.PodRunning, ContainerStatuses: statuses{ctr("a", 0, terminated("Completed", 0, 0)), ctr("b", 0, terminated("Error", 2, 0))}}},
			Summary{Total: 2, Status: "Error"},
		},
		"a scheduling gate gives the status": {
			v1.Pod{Spec: one, Status: v1.PodStatus{Phase: v1.PodPending, Conditions: []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonSchedulingGated}}}},
			Summary{Total: 1, Status: "SchedulingGated"},
		},
		"one container completed, the pod is ready": {
			v1.Pod{Spec: two, Status: v1.PodStatus{Phase: v1.PodRunning, Conditions: condition(v1.PodReady), ContainerStatuses: statuses{ctr("a", 0, terminated("Completed", 0, 0)), ctr("b", 0, running())}}},
			Summary{Ready: 1, Total: 2, Status: "Running"},
		},
		"one container completed, the pod is not ready": {
			v1.Pod{Spec: two, Status: v1.PodStatus{Phase: v1.PodRunning, ContainerStatuses: statuses{ctr("a", 0, terminated("Completed", 0, 0)), ctr("b", 0, running())}}},
			Summary{Ready: 1, Total: 2, Status: "NotReady"},
		},
		"a pod that policy holds": {
			v1.Pod{Spec: one, Status: v1.PodStatus{Phase: v1.PodPending, Conditions: []v1.PodCondition{{Type: "wardlet.dev/Admitted", Status: v1.ConditionFalse}}}},
			Summary{Total: 1, Status: "Held"},
		},
		"a held pod that is deleted is terminating": {
			v1.Pod{ObjectMeta: deleted, Spec: one, Status: v1.PodStatus{Phase: v1.PodPending, Conditions: []v1.PodCondition{{Type: "wardlet.dev/Admitted", Status: v1.ConditionFalse}}}},
			Summary{Total: 1, Status: "Terminating"},
		},
		"a pod that was admitted is not held": {
			v1.Pod{Spec: one, Status: v1.PodStatus{Phase: v1.PodPending, Conditions: []v1.PodCondition{{Type: "wardlet.dev/Admitted", Status: v1.ConditionTrue}}}},
			Summary{Total: 1, Status: "Pending"},
		},
		"a pod that runs is not held, nor is one whose new version waits": {
			v1.Pod{Spec: one, Status: v1.PodStatus{Phase: v1.PodRunning, Conditions: []v1.PodCondition{{Type: "wardlet.dev/Admitted", Status: v1.ConditionFalse}, {Type: "wardlet.dev/UpdateAdmitted", Status: v1.ConditionFalse}}, ContainerStatuses: statuses{ctr("a", 0, running())}}},
			Summary{Ready: 1, Total: 1, Status: "Running"},
		},
		"a version that waits holds no pending pod": {
			v1.Pod{Spec: one, Status: v1.PodStatus{Phase: v1.PodPending, Conditions: []v1.PodCondition{{Type: "wardlet.dev/UpdateAdmitted", Status: v1.ConditionFalse}}}},
			Summary{Total: 1, Status: "Pending"},
		},
		"a denied pod gives the reason of its policy": {
			v1.Pod{Spec: one, Status: v1.PodStatus{Phase: v1.PodFailed, Reason: "ImageNotAllowed", Message: "Pod was rejected: policy \"p\": no"}},
			Summary{Total: 1, Status: "ImageNotAllowed"},
		},
		"a deleted pod is terminating": {
			v1.Pod{ObjectMeta: deleted, Spec: one, Status: v1.PodStatus{Phase: v1.PodRunning, ContainerStatuses: statuses{ctr("a", 0, running())}}},
			Summary{Ready: 1, Total: 1, Status: "Terminating"},
		},
		"until it has ended": {
			v1.Pod{ObjectMeta: deleted, Spec: one, Status: v1.PodStatus{Phase: v1.PodSucceeded, ContainerStatuses: statuses{ctr("a", 0, terminated("Completed", 0, 0))}}},
			Summary{Total: 1, Status: "Completed"},
		},
		"a deleted pod of a lost node is unknown": {
			v1.Pod{ObjectMeta: deleted, Spec: one, Status: v1.PodStatus{Phase: v1.PodRunning, Reason: "NodeLost"}},
			Summary{Total: 1, Status: "Unknown"},
		},
		"init containers that run are counted": {
			v1.Pod{Spec: withInit, Status: v1.PodStatus{Phase: v1.PodPending, InitContainerStatuses: statuses{ctr("i", 1, terminated("Completed", 0, 0)), ctr("j", 0, running())}, ContainerStatuses: statuses{ctr("a", 0, waiting("PodInitializing"))}}},
			Summary{Total: 1, Status: "Init:1/2", Restarts: 1, LastRestart: noon.Add(time.Minute)},
		},
		"an init container that waits gives its reason": {
			v1.Pod{Spec: withInit, Status: v1.PodStatus{Phase: v1.PodPending, InitContainerStatuses: statuses{ctr("i", 2, waiting("CrashLoopBackOff")), ctr("j", 0, waiting("PodInitializing"))}}},
			Summary{Total: 1, Status: "Init:CrashLoopBackOff", Restarts: 2, LastRestart: noon.Add(2 * time.Minute)},
		},
		"an init container that waits for its turn is counted": {
			v1.Pod{Spec: withInit, Status: v1.PodStatus{Phase: v1.PodPending, InitContainerStatuses: statuses{ctr("i", 0, waiting("PodInitializing"))}}},
			Summary{Total: 1, Status: "Init:0/2"},
		},
		"an init container that failed": {
			v1.Pod{Spec: withInit, Status: v1.PodStatus{Phase: v1.PodPending, InitContainerStatuses: statuses{ctr("i", 0, terminated("Error", 1, 0))}}},
			Summary{Total: 1, Status: "Init:Error"},
		},
		"an init container that failed without a reason": {
			v1.Pod{Spec: withInit, Status: v1.PodStatus{Phase: v1.PodPending, InitContainerStatuses: statuses{ctr("i", 0, terminated("", 3, 0))}}},
			Summary{Total: 1, Status: "Init:ExitCode:3"},
		},
		"restarts of init containers do not count once they are done": {
			v1.Pod{Spec: withInit, Status: v1.PodStatus{Phase: v1.PodRunning, InitContainerStatuses: statuses{ctr("i", 5, terminated("Completed", 0, 0)), ctr("j", 0, terminated("Completed", 0, 0))}, ContainerStatuses: statuses{ctr("a", 1, running())}}},
			Summary{Ready: 1, Total: 1, Status: "Running", Restarts: 1, LastRestart: noon.Add(time.Minute)},
		},
		"a sidecar counts as a container, also its restarts": {
			v1.Pod{Spec: withSidecar, Status: v1.PodStatus{Phase: v1.PodRunning, InitContainerStatuses: statuses{sidecar, ctr("i", 9, terminated("Completed", 0, 0))}, ContainerStatuses: statuses{ctr("a", 0, running())}}},
			Summary{Ready: 2, Total: 2, Status: "Running", Restarts: 2, LastRestart: noon.Add(2 * time.Minute)},
		},
		"a sidecar that runs again after the pod was initialized hides nothing": {
			v1.Pod{Spec: withSidecar, Status: v1.PodStatus{Phase: v1.PodRunning, Conditions: condition(v1.PodInitialized), InitContainerStatuses: statuses{ctr("s", 1, waiting("CrashLoopBackOff"))}, ContainerStatuses: statuses{ctr("a", 0, running())}}},
			Summary{Ready: 1, Total: 2, Status: "Init:CrashLoopBackOff", Restarts: 1, LastRestart: noon.Add(time.Minute)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Summarize(&test.pod)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("summary (-want +got):\n%s", diff)
			}
		})
	}
}
