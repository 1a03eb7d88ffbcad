package worker

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/status"
)

func TestAPodLivesAndDies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a", "b")
		b.create(p)
		expectCalls(t, b, "run-sandbox web#0", "start web/a#0", "start web/b#0")
		if b.inspections != 1 {
			t.Errorf("%d inspections were asked for, want the one that shows what was started", b.inspections)
		}
		b.sync(p)
		expectCalls(t, b)
		if got := b.phase("1"); got != v1.PodRunning {
			t.Errorf("phase = %s, want Running", got)
		}

		b.kill(p)
		synctest.Wait()
		calls := b.taken()
		if len(calls) != 5 {
			t.Fatalf("calls = %q, want two stops and three more", calls)
		}
		// The containers are stopped at the same time, so in any order. The other calls have a
		// fixed order.
		if diff := cmp.Diff([]string{"stop-sandbox s1", "teardown 1", "remove-cgroup 1"}, calls[2:]); diff != "" {
			t.Errorf("calls after the containers were stopped (-want +got):\n%s", diff)
		}
		slices.Sort(calls[:2])
		if diff := cmp.Diff([]string{"stop c2 30s", "stop c3 30s"}, calls[:2]); diff != "" {
			t.Errorf("stops (-want +got):\n%s", diff)
		}
		if got := b.state("1"); got != Finished {
			t.Errorf("state = %s, want finished", got)
		}
		if workers := b.pool.SyncKnownPods(wants()); len(workers) != 0 {
			t.Errorf("workers = %v, want none", workers)
		}
		if _, ok := b.store.Get("1"); ok {
			t.Error("the status of a pod that is gone was kept")
		}
		for _, e := range []string{"web Created", "web Started", "web Killing"} {
			if !b.recorded(e) {
				t.Errorf("event %q is missing", e)
			}
		}
	})
}

func TestAdoptionChangesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p, o := good()
		b.change("1", func(is *status.ObservedPod) { *is = *o })
		b.create(p)
		expectCalls(t, b)
		if got := b.phase("1"); got != v1.PodRunning {
			t.Errorf("phase = %s, want Running", got)
		}
		time.Sleep(time.Hour)
		b.cache.SetObserved("1", time.Now()) // as each list does
		b.sync(p)
		expectCalls(t, b)
		if b.inspections != 0 {
			t.Errorf("%d inspections were asked for, want none: there was news", b.inspections)
		}
	})
}

func TestAWorkerWaitsForTheFirstList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		listed := make(chan struct{})
		b.cfg.Cache = lateCache{b.node, listed}
		b.pool = New(b.cfg)
		defer b.pool.Stop(t.Context())
		b.create(newPod("web", "1", "a"))
		expectCalls(t, b)
		close(listed)
		expectCalls(t, b, "run-sandbox web#0", "start web/a#0")
	})
}

func TestAPodThatRunsToItsEnd(t *testing.T) {
	t.Parallel()
	for policy, want := range map[v1.RestartPolicy]v1.PodPhase{
		v1.RestartPolicyNever: v1.PodFailed, v1.RestartPolicyOnFailure: v1.PodSucceeded,
	} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				p := newPod("job", "1", "a")
				p.Spec.RestartPolicy = policy
				b.create(p)
				synctest.Wait()
				code := int32(0)
				if want == v1.PodFailed {
					code = 3
				}
				b.exit("c2", code)
				b.taken()
				b.sync(p)
				expectCalls(t, b, "stop-sandbox s1", "teardown 1", "remove-cgroup 1")
				if got := b.phase("1"); got != want {
					t.Errorf("phase = %s, want %s", got, want)
				}
				if b.pool.records["1"].wake != nil {
					t.Error("the worker of a finished pod goes on")
				}
				if workers := b.pool.SyncKnownPods(wants("1")); workers["1"] != Finished {
					t.Errorf("workers = %v, want the finished one to stay: its pod is wanted", workers)
				}
				b.update(p)
				expectCalls(t, b)
			})
		})
	}
}

func TestARequestToEndAPodIsNotForgotten(t *testing.T) {
	t.Parallel()
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			p := fromAPI(newPod("web", "1", "a"))
			b.create(p)
			b.kill(p)
			b.update(p)
			b.sync(p)
			synctest.Wait()
			if got := b.state("1"); got != Finished {
				t.Errorf("state = %s, want finished", got)
			}
			if got := b.newest("1", "a").State; got == status.StateRunning {
				t.Error("a container runs")
			}
		})
	}
}

func TestEndingCancelsWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.hold["start web/a"] = make(chan struct{})
		p := newPod("web", "1", "a", "b")
		b.create(p)
		expectCalls(t, b, "run-sandbox web#0", "start web/a#0")
		deleted := p.DeepCopy()
		deleted.DeletionTimestamp = new(metav1.Now())
		b.update(deleted)
		expectCalls(t, b, "stop-sandbox s1", "teardown 1", "remove-cgroup 1")
		if b.recorded("web Failed") {
			t.Error("a start that was cancelled is reported as failed")
		}
		if _, ok := b.cfg.Reasons.Get("1", "a"); ok {
			t.Error("a start that was cancelled is remembered as failed")
		}
		if n := b.log.count.Load(); n != 0 {
			t.Errorf("%d warnings were logged, want none", n)
		}
	})
}

func TestAPodThatNeverStartedEndsAsFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fail["start"] = errBroken
		p := fromAPI(newPod("web", "1", "a"))
		b.create(p)
		synctest.Wait()
		b.kill(p)
		synctest.Wait()
		st, _ := b.store.Get("1")
		if st.Phase != v1.PodFailed || len(st.ContainerStatuses) != 1 || st.ContainerStatuses[0].State.Terminated == nil {
			t.Errorf("status = %+v, want Failed and a container that has ended", st)
		}
	})
}

func TestStatesAreTriedAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fail  string
		state State
	}{
		"a container that does not stop": {"stop c2", Terminating},
		"a sandbox that does not stop":   {"stop-sandbox", Terminating},
		"a volume that does not unmount": {"teardown", Terminated},
		"a cgroup that does not go":      {"remove-cgroup", Terminated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				p := newPod("web", "1", "a")
				b.create(p)
				synctest.Wait()
				b.fail[tc.fail] = errBroken
				b.kill(p)
				synctest.Wait()
				if got := b.state("1"); got != tc.state {
					t.Errorf("state = %s, want %s", got, tc.state)
				}
				b.mu.Lock()
				delete(b.fail, tc.fail)
				b.mu.Unlock()
				b.pool.SyncKnownPods(wants()) // as housekeeping does for removed pods
				synctest.Wait()
				if got := b.state("1"); got != Finished {
					t.Errorf("state = %s, want finished", got)
				}
			})
		})
	}
}

func TestAContainerThatRunsOnIsNoSuccess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a")
		b.create(p)
		synctest.Wait()
		b.cfg.Runtime = lyingRuntime{b.node}
		b.pool.cfg.Runtime = lyingRuntime{b.node}
		b.kill(p)
		synctest.Wait()
		if got := b.state("1"); got != Terminating {
			t.Errorf("state = %s, want terminating: a container runs", got)
		}
	})
}

func TestAPodThatCannotBeInspected(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.cache.SetError("1", errors.New("no answer"), time.Now())
		b.create(newPod("web", "1", "a"))
		expectCalls(t, b)
		if !b.recorded("web FailedSync") {
			t.Error("event FailedSync is missing")
		}
		time.Sleep(errorDelay + time.Second)
		if got := b.pool.Due(); len(got) != 1 {
			t.Errorf("due = %v, want the pod", got)
		}
	})
}
