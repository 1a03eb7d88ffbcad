package worker

import (
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A pod comes back from the checkpoint as it was: with its deletion under way.
func TestADeletionThatWasUnderWayGoesOn(t *testing.T) {
	t.Parallel()
	deleted := func() *v1.Pod {
		p := fromAPI(newPod("web", "1", "a"))
		p.DeletionTimestamp = new(metav1.NewTime(time.Now().Add(-time.Minute)))
		p.DeletionGracePeriodSeconds = new(int64(7))
		return p
	}
	t.Run("where its containers run", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			p := deleted()
			running(b, p)
			held := make(chan struct{})
			b.hold["stop a-1"] = held
			b.create(p)
			expectCalls(t, b, "stop a-1 7s")
			if got := b.state("1"); got != Terminating {
				t.Errorf("state = %s, want terminating", got)
			}
			close(held)
			expectCalls(t, b, "stop-sandbox s-1", "teardown 1", "remove-cgroup 1")
			if !b.pool.ContentRemovable("1") {
				t.Error("what it leaves may not go")
			}
		})
	})
	t.Run("where nothing of it runs", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			remembering(b).kept["1"] = v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{{Name: "a", RestartCount: 3}}}
			b.create(deleted())
			expectCalls(t, b, "teardown 1", "remove-cgroup 1")
			if b.state("1") != Finished || b.phase("1") != v1.PodFailed {
				t.Errorf("state %s, phase %s", b.state("1"), b.phase("1"))
			}
		})
	})
	t.Run("where it had ended", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			remembering(b).kept["1"] = v1.PodStatus{
				Phase: v1.PodSucceeded, ContainerStatuses: []v1.ContainerStatus{{
					Name: "a", State: v1.ContainerState{Terminated: &v1.ContainerStateTerminated{}},
				}},
			}
			b.create(deleted())
			expectCalls(t, b, "teardown 1", "remove-cgroup 1")
			if b.state("1") != Finished || b.phase("1") != v1.PodSucceeded {
				t.Errorf("state %s, phase %s", b.state("1"), b.phase("1"))
			}
		})
	})
}
