package status

import (
	"testing"

	v1 "k8s.io/api/core/v1"
)

func TestPhaseWithoutContainersIsPending(t *testing.T) {
	t.Parallel()
	if got := phaseOf(testPod(v1.RestartPolicyNever, ""), &v1.PodStatus{}, false, true, false); got != v1.PodPending {
		t.Errorf("phase = %s, want Pending", got)
	}
}

func TestPhase(t *testing.T) {
	t.Parallel()
	const (
		always    = v1.RestartPolicyAlways
		never     = v1.RestartPolicyNever
		onFailure = v1.RestartPolicyOnFailure
	)
	type statuses = []v1.ContainerStatus
	tests := []struct {
		name     string
		policy   v1.RestartPolicy
		source   string
		terminal bool
		statuses statuses
		want     v1.PodPhase
	}{
		{"nothing known is pending", always, "", false, nil, v1.PodPending},
		{"all running is running", always, "", false, statuses{isRunning("a"), isRunning("b")}, v1.PodRunning},
		{"one without status is pending, whatever the other does", always, "", false, statuses{isRunning("a")}, v1.PodPending},
		{"one without status is pending, even when the other has ended", never, "", false, statuses{hasEnded("a", 0)}, v1.PodPending},
		{"a status that says nothing is no status", never, "", false, statuses{isRunning("a"), {Name: "b"}}, v1.PodPending},
		{"one waiting for its first start is pending", always, "", false, statuses{isRunning("a"), isWaiting("b", "ContainerCreating")}, v1.PodPending},
		{"one that a probe has ended well is started again", onFailure, "", false, statuses{hasEnded("a", 0), madeAgain("b", 0)}, v1.PodRunning},
		{"one that has ended well and waits for nothing newer is done", onFailure, "", false, statuses{hasEnded("a", 0), waitsAfter("b", 0)}, v1.PodFailed},
		{"one in back-off does not stop the pod from running", always, "", false, statuses{isRunning("a"), waitsAfter("b", 1)}, v1.PodRunning},
		{"one ended, one running is running", never, "", false, statuses{isRunning("a"), hasEnded("b", 1)}, v1.PodRunning},

		{"always: all ended well is running", always, "", false, statuses{hasEnded("a", 0), hasEnded("b", 0)}, v1.PodRunning},
		{"always: all failed is running", always, "", false, statuses{hasEnded("a", 1), hasEnded("b", 1)}, v1.PodRunning},
		{"always: all in back-off is running", always, "", false, statuses{waitsAfter("a", 1), waitsAfter("b", 1)}, v1.PodRunning},

		{"never: all ended well has succeeded", never, "", false, statuses{hasEnded("a", 0), hasEnded("b", 0)}, v1.PodSucceeded},
		{"never: one failed has failed", never, "", false, statuses{hasEnded("a", 0), hasEnded("b", 1)}, v1.PodFailed},

		{"on failure: all ended well has succeeded", onFailure, "", false, statuses{hasEnded("a", 0), hasEnded("b", 0)}, v1.PodSucceeded},
		{"on failure: one failed is running", onFailure, "", false, statuses{hasEnded("a", 0), hasEnded("b", 1)}, v1.PodRunning},
		{"on failure: one in back-off is running", onFailure, "", false, statuses{hasEnded("a", 0), waitsAfter("b", 1)}, v1.PodRunning},

		{"stopped for good: all ended well has succeeded", always, "", true, statuses{hasEnded("a", 0), hasEnded("b", 0)}, v1.PodSucceeded},
		{"stopped for good: one killed has failed", always, "", true, statuses{hasEnded("a", 0), hasEnded("b", 137)}, v1.PodFailed},
		{"stopped for good: one in back-off has failed", always, "", true, statuses{hasEnded("a", 0), waitsAfter("b", 1)}, v1.PodFailed},
		{"stopped for good but never started stays pending", always, "", true, statuses{hasEnded("a", 0), isWaiting("b", "ErrImagePull")}, v1.PodPending},
		{"stopped for good: an API pod is no static pod", always, "api", true, statuses{hasEnded("a", 0), hasEnded("b", 0)}, v1.PodSucceeded},
		{"a static pod is not terminal because it was stopped", always, "file", true, statuses{hasEnded("a", 0), hasEnded("b", 137)}, v1.PodRunning},
		{"a static pod that may not restart is terminal", never, "file", true, statuses{hasEnded("a", 0), hasEnded("b", 137)}, v1.PodFailed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := testPod(tt.policy, tt.source, "a", "b")
			if got := phaseOf(p, &v1.PodStatus{ContainerStatuses: tt.statuses}, false, tt.terminal, false); got != tt.want {
				t.Errorf("phase = %s, want %s", got, tt.want)
			}
		})
	}
}

// madeAgain returns the status of a container that was created but not started, after one that
// exited with exit.
func madeAgain(name string, exit int32) v1.ContainerStatus {
	st := waitsAfter(name, exit)
	st.ContainerID = "r://newer"
	return st
}
