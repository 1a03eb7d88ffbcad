package worker

import (
	"testing"
	"testing/synctest"

	"github.com/wardlet/wardlet/core/status"
)

func expectRunning(t *testing.T, b *bench, want map[string]bool) {
	t.Helper()
	synctest.Wait()
	for uid, runs := range want {
		if got := b.newest(uidOf(uid), "a").State == "running"; got != runs {
			t.Errorf("pod %s runs: %v, want %v", uid, got, runs)
		}
	}
}

func TestStaticPodsOfOneNameRunOneAfterTheOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		first, second, third := newPod("web", "1", "a"), newPod("web", "2", "a"), newPod("web", "3", "a")
		other := api(newPod("web", "4", "a"))
		b.create(first)
		synctest.Wait()
		b.create(second)
		synctest.Wait()
		b.create(third)
		b.create(other)
		expectRunning(t, b, map[string]bool{"1": true, "2": false, "3": false, "4": true})

		b.kill(second) // it never started: it is finished at once
		expectRunning(t, b, map[string]bool{"2": false})
		if got := b.state("2"); got != Finished {
			t.Errorf("state of a pod that waited = %s, want finished", got)
		}

		held := make(chan struct{})
		b.hold["teardown 1"] = held
		b.kill(first) // its containers are gone before its volumes are
		expectRunning(t, b, map[string]bool{"1": false, "3": false})
		close(held)
		expectRunning(t, b, map[string]bool{"3": true})
	})
}

func TestAPodStartsWhenTheOneWhosePlaceItTakesHasLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		old, unrelated := api(newPod("web", "1", "a")), uidOf("9")
		successor, other := api(newPod("shop", "2", "a")), api(newPod("db", "3", "a"))
		b.create(old)
		synctest.Wait()
		held := make(chan struct{})
		b.hold["teardown 1"] = held
		b.kill(old)
		b.pool.Update(Request{Kind: Create, Pod: successor, After: old.UID})
		b.pool.Update(Request{Kind: Create, Pod: other, After: unrelated})
		expectRunning(t, b, map[string]bool{"1": false, "2": false, "3": true})
		st, _ := b.store.Get(successor.UID)
		if len(st.ContainerStatuses) != 1 || st.ContainerStatuses[0].State.Waiting == nil ||
			st.ContainerStatuses[0].State.Waiting.Reason != status.ReasonWaitingForPredecessor {
			t.Errorf("status of a pod that waits = %+v, want it to say so", st)
		}
		close(held)
		expectRunning(t, b, map[string]bool{"2": true})
	})
}

func TestAPodWaitsForOneThatOnlyTheRuntimeKnows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		old, successor := api(newPod("web", "1", "a")), api(newPod("shop", "2", "a"))
		running(b, old)
		b.pool.Update(Request{Kind: Create, Pod: successor, After: old.UID})
		expectRunning(t, b, map[string]bool{"1": true, "2": false})
		b.create(old)
		b.kill(old)
		synctest.Wait()
		b.sync(successor)
		expectRunning(t, b, map[string]bool{"1": false, "2": true})
	})
}

func TestAPodThatIsWantedItselfIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		old, successor := api(newPod("web", "1", "a")), api(newPod("shop", "2", "a"))
		b.create(old)
		b.pool.Update(Request{Kind: Create, Pod: successor, After: old.UID})
		expectRunning(t, b, map[string]bool{"1": true, "2": true})
	})
}

func TestAPodLeftRunningIsNotMadeToWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		old, successor := newPod("web", "1", "a"), newPod("web", "2", "a")
		running(b, old)
		// The successor comes first, as files may after a restart.
		b.create(successor)
		expectRunning(t, b, map[string]bool{"1": true, "2": false})
		b.create(old)
		b.sync(successor)
		expectRunning(t, b, map[string]bool{"1": true, "2": false})
		expectCalls(t, b)
		b.kill(old)
		expectRunning(t, b, map[string]bool{"1": false, "2": true})
	})
}

func TestAPodLeftRunningAndRemovedAtOnceEndsProperly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		old, successor := newPod("web", "1", "a"), newPod("web", "2", "a")
		running(b, old)
		b.create(old)
		b.kill(old) // before its worker ever ran
		b.create(successor)
		expectCalls(t, b,
			"stop a-1 30s", "stop-sandbox s-1", "teardown 1", "remove-cgroup 1",
			"run-sandbox web#0", "start web/a#0")
	})
}

func TestARuntimePodOfTheNameIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		running(b, newPod("web", "1", "a"))
		b.create(newPod("web", "2", "a"))
		expectCalls(t, b)
		b.pool.KillStray(&b.pool.Strays()[0])
		expectCalls(t, b, "stop a-1 1s", "stop-sandbox s-1")
		b.sync(newPod("web", "2", "a"))
		expectCalls(t, b, "run-sandbox web#0", "start web/a#0")
	})
}
