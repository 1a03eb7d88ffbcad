package worker

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

func TestNameQueue(t *testing.T) {
	t.Parallel()
	g := newNameQueue()
	dead := map[types.UID]bool{}
	live := func(uid types.UID) bool { return !dead[uid] }
	for _, uid := range []types.UID{"a", "b", "c", "d"} {
		g.enqueue("web", uid)
	}
	check := func(uid types.UID, want bool) {
		t.Helper()
		if got := g.tryAcquire("web", uid, live); got != want {
			t.Errorf("enter(%s) = %v, want %v", uid, got, want)
		}
	}
	check("b", false) // a is first
	check("a", true)
	check("a", true) // a already has the name
	check("b", false)
	if diff := cmp.Diff([]types.UID{"b", "c", "d"}, g.release("web", "a")); diff != "" {
		t.Errorf("who waits after a left (-want +got):\n%s", diff)
	}
	dead["b"] = true
	check("d", false) // c is before it
	check("c", true)  // b cannot start any more
	g.release("web", "d")
	if len(g.release("web", "c")) != 0 || len(g.holders) != 0 || len(g.waiting) != 0 {
		t.Errorf("the queue keeps something: %+v", g)
	}
}

func TestANameIsFreeWhenAllThatRanUnderItHaveLeft(t *testing.T) {
	t.Parallel()
	g := newNameQueue()
	live := func(types.UID) bool { return true }
	for _, uid := range []types.UID{"a", "b", "c"} {
		g.enqueue("web", uid)
	}
	for range 2 {
		g.acquire("web", "a")
		g.acquire("web", "b")
	}
	if !g.tryAcquire("web", "b", live) {
		t.Error("b does not hold the name it runs under")
	}
	for _, uid := range []types.UID{"a", "b"} {
		if g.tryAcquire("web", "c", live) {
			t.Errorf("c starts before %s has left", uid)
		}
		g.release("web", uid)
	}
	if !g.tryAcquire("web", "c", live) {
		t.Error("c does not start, and all others have left")
	}
}

func TestStaticPodsOfOneNameRunOneAfterTheOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		first, second, third := newPod("web", "1", "a"), newPod("web", "2", "a"), newPod("web", "3", "a")
		other := fromAPI(newPod("web", "4", "a"))
		b.create(first)
		synctest.Wait()
		b.create(second)
		synctest.Wait()
		b.create(third)
		b.create(other)
		expectRunning(t, b, map[string]bool{"1": true, "2": false, "3": false, "4": true})

		b.kill(second) // it never started, so it is finished at once
		expectRunning(t, b, map[string]bool{"2": false})
		if got := b.state("2"); got != Finished {
			t.Errorf("state of a pod that waited = %s, want finished", got)
		}

		held := make(chan struct{})
		b.hold["teardown 1"] = held
		b.kill(first) // its containers are removed before its volumes
		expectRunning(t, b, map[string]bool{"1": false, "3": false})
		close(held)
		expectRunning(t, b, map[string]bool{"3": true})
	})
}

func TestAPodInDoubtFreesNoNameThatAnotherOneRunsUnder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		ended, runs, next := newPod("web", "1", "a"), newPod("web", "2", "a"), newPod("web", "3", "a")
		running(b, runs)
		b.cache.SetError(ended.UID, errBroken, time.Now())
		b.create(ended)
		synctest.Wait()
		b.create(runs)
		b.create(next)
		b.kill(ended)
		b.look(ended.UID)
		time.Sleep(time.Minute)
		expectRunning(t, b, map[string]bool{"1": false, "2": true, "3": false})
		b.kill(runs)
		expectRunning(t, b, map[string]bool{"2": false, "3": true})
	})
}

func TestAPodOfWhichNothingRunsWaitsForItsName(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*bench, *v1.Pod){
		"an empty sandbox is left":          sandboxOf,
		"it cannot be told whether it does": func(b *bench, p *v1.Pod) { b.cache.SetError(p.UID, errBroken, time.Now()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				runs, next := newPod("web", "1", "a"), newPod("web", "2", "a")
				running(b, runs)
				leave(b, next)
				b.create(next)
				synctest.Wait()
				b.create(runs)
				synctest.Wait()
				b.look(next.UID)
				b.sync(next)
				expectRunning(t, b, map[string]bool{"1": true, "2": false})
				b.kill(runs)
				expectRunning(t, b, map[string]bool{"1": false, "2": true})
			})
		})
	}
}

func TestOfPodsOfOneNameThatHaveOnlyASandboxOneStarts(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]func(){
		"which are created at once":                        func() {},
		"of which the first has waited for the second one": synctest.Wait,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				one, two := newPod("web", "1", "a"), newPod("web", "2", "a")
				sandboxOf(b, one)
				sandboxOf(b, two)
				b.create(one)
				between()
				b.create(two)
				expectRunning(t, b, map[string]bool{"1": true, "2": false})
			})
		})
	}
}

func TestAPodStartsWhenTheOneWhosePlaceItTakesHasLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		old, unrelated := fromAPI(newPod("web", "1", "a")), uidOf("9")
		successor, other := fromAPI(newPod("shop", "2", "a")), fromAPI(newPod("db", "3", "a"))
		b.create(old)
		synctest.Wait()
		held := make(chan struct{})
		b.hold["teardown 1"] = held
		b.kill(old)
		b.pool.Submit(Request{Kind: Create, Pod: successor, Replaces: old.UID})
		b.pool.Submit(Request{Kind: Create, Pod: other, Replaces: unrelated})
		expectRunning(t, b, map[string]bool{"1": false, "2": false, "3": true})
		st, _ := b.store.Get(successor.UID)
		if len(st.ContainerStatuses) != 1 || st.ContainerStatuses[0].State.Waiting == nil ||
			st.ContainerStatuses[0].State.Waiting.Reason != api.ReasonWaitingForPredecessor {
			t.Errorf("status of a pod that waits = %+v, want it to say so", st)
		}
		close(held)
		expectRunning(t, b, map[string]bool{"2": true})
	})
}

func TestAPodOfWhichOnlyASandboxIsLeftWaitsForTheOneWhosePlaceItTakes(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]*v1.Pod{"static": newPod("shop", "2", "a"), "of the API server": fromAPI(newPod("shop", "2", "a"))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				old := fromAPI(newPod("web", "1", "a"))
				b.create(old)
				synctest.Wait()
				sandboxOf(b, p)
				held := make(chan struct{})
				b.hold["teardown 1"] = held
				b.kill(old)
				b.pool.Submit(Request{Kind: Create, Pod: p, Replaces: old.UID})
				expectRunning(t, b, map[string]bool{"1": false, "2": false})
				close(held)
				expectRunning(t, b, map[string]bool{"2": true})
			})
		})
	}
}

// sandboxOf adds a pod to the runtime that has only its sandbox, because its termination was
// interrupted.
func sandboxOf(b *bench, p *v1.Pod) {
	b.change(p.UID, func(o *status.ObservedPod) {
		o.Name, o.Namespace = p.Name, p.Namespace
		o.Sandboxes = []status.ObservedSandbox{{ID: "s-" + string(p.UID), Ready: true, IPs: []string{"10.0.0.9"}, Annotations: p.Annotations}}
	})
}

func TestAPodWaitsForOneThatOnlyTheRuntimeKnows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		old, successor := fromAPI(newPod("web", "1", "a")), fromAPI(newPod("shop", "2", "a"))
		running(b, old)
		b.pool.Submit(Request{Kind: Create, Pod: successor, Replaces: old.UID})
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
		old, successor := fromAPI(newPod("web", "1", "a")), fromAPI(newPod("shop", "2", "a"))
		b.create(old)
		b.pool.Submit(Request{Kind: Create, Pod: successor, Replaces: old.UID})
		expectRunning(t, b, map[string]bool{"1": true, "2": true})
	})
}

func TestAPodLeftRunningIsNotMadeToWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		old, successor := newPod("web", "1", "a"), newPod("web", "2", "a")
		running(b, old)
		// The successor is created first, as may happen with files after a restart.
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

// TestStart_ofTheViewsOfAPodTheOneThatShowsItRunningCounts checks that the successor does not
// start if a newer list shows that the old pod has exited, but an older inspection shows that
// it runs. The worker of the old pod uses the inspection.
func TestStart_ofTheViewsOfAPodTheOneThatShowsItRunningCounts(t *testing.T) {
	t.Parallel()
	for range 100 { // the order of the workers is random
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			old, successor := newPod("web", "1", "a"), newPod("web", "2", "a")
			running(b, old)
			b.create(successor)
			synctest.Wait()
			inspected, err := b.cache.Get(old.UID)
			if err != nil {
				t.Fatal(err)
			}
			seen := time.Now()
			time.Sleep(time.Second)
			b.exit("a-1", 1)
			b.cache.Set(inspected, seen)
			b.create(old)
			b.sync(successor)
			synctest.Wait()
			b.look(old.UID)
			b.sync(old)
			expectRunning(t, b, map[string]bool{"1": true, "2": false})
		})
	}
}

func TestAPodLeftRunningAndRemovedAtOnceEndsProperly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		old, successor := newPod("web", "1", "a"), newPod("web", "2", "a")
		running(b, old)
		b.create(old)
		b.kill(old) // before its worker has run
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
		b.pool.KillOrphan(&b.pool.Orphans()[0])
		expectCalls(t, b, "stop a-1 1s", "stop-sandbox s-1", "run-sandbox web#0", "start web/a#0")
	})
}

func TestTheSuccessorOfARuntimePodStartsAsSoonAsThatHasEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		old, successor := fromAPI(newPod("web", "1", "a")), fromAPI(newPod("shop", "2", "a"))
		running(b, old)
		b.pool.Submit(Request{Kind: Create, Pod: successor, Replaces: old.UID})
		expectCalls(t, b)
		b.pool.KillOrphan(&b.pool.Orphans()[0])
		expectCalls(t, b, "stop a-1 1s", "stop-sandbox s-1", "run-sandbox shop#0", "start shop/a#0")
	})
}

// TestStart_waitsNoLongerForARuntimePodThatEndsOfItself checks that a pod starts once the pod
// it waits for has exited by itself. The exited pod never gets a worker that could wake the
// waiting one.
func TestStart_waitsNoLongerForARuntimePodThatEndsOfItself(t *testing.T) {
	t.Parallel()
	old := newPod("web", "1", "a")
	successors := map[string]Request{
		"by name":         {Kind: Create, Pod: newPod("web", "2", "a")},
		"by what it says": {Kind: Create, Pod: fromAPI(newPod("shop", "2", "a")), Replaces: "1"},
	}
	for name, successor := range successors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				housekeep := func() { b.pool.SyncKnownPods(func(uid types.UID) bool { return uid == "2" }) }
				running(b, old)
				b.pool.Submit(successor)
				synctest.Wait()
				housekeep()
				expectRunning(t, b, map[string]bool{"1": true, "2": false})
				b.exit("a-1", 255)
				b.change("1", func(o *status.ObservedPod) { o.Sandboxes[0].Ready = false })
				b.look("1")
				housekeep()
				expectRunning(t, b, map[string]bool{"1": false, "2": true})
			})
		})
	}
}

func TestARuntimePodHasEndedWhenNothingOfItRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		running(b, newPod("web", "1", "a"))
		b.create(newPod("web", "2", "a"))
		b.stubborn = true
		b.pool.KillOrphan(&b.pool.Orphans()[0])
		expectCalls(t, b, "stop a-1 1s", "stop-sandbox s-1") // the container runs on
		b.stubborn = false
		b.pool.SyncKnownPods(func(uid types.UID) bool { return uid == "2" }) // as housekeeping does
		expectCalls(t, b, "stop a-1 1s", "stop-sandbox s-1", "run-sandbox web#0", "start web/a#0")
	})
}

func TestARuntimePodOfTheNameIsWaitedForUntilItHasEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		running(b, newPod("web", "1", "a"))
		b.create(newPod("web", "2", "a"))
		held := make(chan struct{})
		b.hold["stop a-1"] = held
		b.pool.KillOrphan(&b.pool.Orphans()[0])
		synctest.Wait()
		b.sync(newPod("web", "2", "a"))
		expectCalls(t, b, "stop a-1 1s")
		close(held)
		expectCalls(t, b, "stop-sandbox s-1", "run-sandbox web#0", "start web/a#0")
	})
}

func TestAPodThatComesWhileARuntimePodOfItsNameEndsStartsAsSoonAsThatHasEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		running(b, newPod("web", "1", "a"))
		held := make(chan struct{})
		b.hold["stop a-1"] = held
		b.pool.KillOrphan(&b.pool.Orphans()[0])
		synctest.Wait()
		b.create(newPod("web", "2", "a"))
		expectCalls(t, b, "stop a-1 1s")
		close(held)
		expectCalls(t, b, "stop-sandbox s-1", "run-sandbox web#0", "start web/a#0")
	})
}

func TestAStaticPodRunsBesideARuntimePodOfItsNameThatIsTheAPIServers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		source string
		waits  bool
	}{
		"made for the API server":    {pod.SourceAPI, false},
		"made for another file":      {"file", true},
		"of which nobody knows that": {"", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				running(b, newPod("web", "1", "a"))
				b.change("1", func(o *status.ObservedPod) {
					o.Sandboxes[0].Annotations = map[string]string{pod.AnnotationSource: tc.source}
				})
				b.create(newPod("web", "2", "a"))
				expectRunning(t, b, map[string]bool{"1": true, "2": !tc.waits})
			})
		})
	}
}
