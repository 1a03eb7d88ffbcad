package worker

import (
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/status"
)

func TestADeletionTimestampEndsAPod(t *testing.T) {
	t.Parallel()
	for name, delta := range map[string]time.Duration{"in the past": -time.Hour, "in the future": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				p := fromAPI(newPod("web", "1", "a"))
				b.create(p)
				synctest.Wait()
				p = p.DeepCopy()
				p.DeletionTimestamp = new(metav1.NewTime(time.Now().Add(delta)))
				b.update(p)
				synctest.Wait()
				if got := b.state("1"); got != Finished {
					t.Errorf("state = %s, want finished", got)
				}
				if !b.pool.ContentRemovable("1") {
					t.Error("a deleted pod that has ended keeps its content")
				}
			})
		})
	}
}

func TestATerminalPhaseEndsAPod(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := fromAPI(newPod("web", "1", "a"))
		b.create(p)
		synctest.Wait()
		p = p.DeepCopy()
		p.Status.Phase = v1.PodFailed
		b.update(p)
		synctest.Wait()
		if got := b.newest("1", "a").State; got != status.StateExited {
			t.Errorf("the container is %s, want exited", got)
		}
		if b.pool.ContentRemovable("1") {
			t.Error("the content of a pod that its source still holds may go")
		}
	})
}

func TestAPodThatEndedBeforeTheAgentStarted(t *testing.T) {
	t.Parallel()
	t.Run("is only cleaned up when nothing of it runs", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			p := fromAPI(newPod("web", "1", "a"))
			p.Status.Phase = v1.PodSucceeded
			b.create(p)
			expectCalls(t, b, "teardown 1", "remove-cgroup 1")
			if got := b.state("1"); got != Finished {
				t.Errorf("state = %s, want finished", got)
			}
		})
	})
	t.Run("is ended first when something of it runs", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			p := fromAPI(newPod("web", "1", "a"))
			p.Status.Phase = v1.PodSucceeded
			running(b, p)
			b.create(p)
			expectCalls(t, b, "stop a-1 30s", "stop-sandbox s-1", "teardown 1", "remove-cgroup 1")
		})
	})
}

func TestTheSameUIDAgainWhileItIsBeingEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a")
		b.create(p)
		synctest.Wait()
		held := make(chan struct{})
		b.hold["stop c2"] = held
		b.kill(p)
		synctest.Wait()
		b.create(p.DeepCopy())
		b.sync(p.DeepCopy())
		if workers := b.pool.SyncKnownPods(wants("1")); workers["1"] != Terminating {
			t.Errorf("workers = %v, want one that is terminating", workers)
		}
		close(held)
		synctest.Wait()
		b.taken()
		// One call removes the record, so that the caller creates the pod again.
		if workers := b.pool.SyncKnownPods(wants("1")); len(workers) != 0 {
			t.Errorf("workers = %v, want none", workers)
		}
		b.create(p)
		expectCalls(t, b, "stop-sandbox s1", "run-sandbox web#1", "start web/a#1")
	})
}

func TestAPodIsEndedInItsOwnVersion(t *testing.T) {
	t.Parallel()
	for name, created := range map[string]bool{"where another one is to come after it": true, "where policy has refused that": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				p := newPod("web", "1", "a")
				b.create(p)
				synctest.Wait()
				b.fail["stop c2"] = errBroken
				b.kill(p)
				synctest.Wait()
				next := newPod("next", "1", "a")
				if created {
					b.create(next)
				}
				b.sync(next)
				synctest.Wait()
				if b.recorded("next Killing") {
					t.Error("the old pod is ended in the name of the next one")
				}
			})
		})
	}
}

func TestAPodOnlyTheRuntimeKnows(t *testing.T) {
	t.Parallel()
	t.Run("is ended within a second and forgotten", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			running(b, newPod("old", "1", "a"))
			strays := b.pool.Orphans()
			if len(strays) != 1 || strays[0].UID != "1" || strays[0].Source != "file" || strays[0].Name != "old" {
				t.Fatalf("strays = %+v, want the pod", strays)
			}
			b.pool.KillOrphan(&strays[0])
			expectCalls(t, b, "stop a-1 1s", "stop-sandbox s-1")
			if b.pool.Has("1") {
				t.Error("the record was kept")
			}
			if got := b.pool.Orphans(); len(got) != 0 {
				t.Errorf("strays = %+v, want none", got)
			}
			if !b.recorded("old Killing") {
				t.Error("event Killing is missing")
			}
		})
	})
	t.Run("is tried again by Known", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			running(b, newPod("old", "1", "a"))
			b.fail["stop a-1"] = errBroken
			b.pool.KillOrphan(&b.pool.Orphans()[0])
			expectCalls(t, b, "stop a-1 1s")
			if got := b.pool.Orphans(); len(got) != 0 {
				t.Errorf("a pod that is being ended is a stray: %+v", got)
			}
			b.mu.Lock()
			clear(b.fail)
			b.mu.Unlock()
			b.pool.SyncKnownPods(wants())
			expectCalls(t, b, "stop a-1 1s", "stop-sandbox s-1")
		})
	})
	t.Run("can be asked for nothing but to end", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			b.pool.Submit(Request{Kind: Sync, Observed: &status.ObservedPod{UID: "1"}})
			b.pool.Submit(Request{Kind: Kill})
			if b.pool.Has("1") {
				t.Error("it got a worker")
			}
		})
	})
	t.Run("is wanted after all: it is made again", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			p := newPod("old", "1", "a")
			running(b, p)
			held := make(chan struct{})
			b.hold["stop a-1"] = held
			b.pool.KillOrphan(&b.pool.Orphans()[0])
			synctest.Wait()
			b.create(p)
			close(held)
			synctest.Wait()
			if workers := b.pool.SyncKnownPods(wants("1")); len(workers) != 0 {
				t.Errorf("workers = %v, want none, so that the caller makes it anew", workers)
			}
		})
	})
}

func TestAPodThatWasRenamedEndsUnderItsFormerNameFirst(t *testing.T) {
	t.Parallel()
	tests := map[string]func(b *bench){
		"as an inspection shows it":                    func(*bench) {},
		"as the list shows it before it was inspected": func(b *bench) { b.cache.Delete("1"); b.list() },
		"as the list shows it where inspection has failed": func(b *bench) {
			b.cache.Delete("1")
			b.cache.SetError("1", errBroken, time.Now())
		},
	}
	for name, forget := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				running(b, newPod("old", "1", "a"))
				renamed := newPod("new", "1", "a")
				held := make(chan struct{})
				b.hold["stop a-1"] = held
				forget(b)
				b.create(renamed)
				b.sync(renamed) // this starts nothing and does not rename the old pod
				expectCalls(t, b, "stop a-1 1s")
				close(held)
				expectCalls(t, b, "stop-sandbox s-1")
				if b.pool.Has("1") {
					t.Error("it has a worker, although nothing of it is to be ended any more")
				}
				b.create(renamed)
				expectCalls(t, b, "stop-sandbox s-1", "run-sandbox new#1", "start new/a#1")
			})
		})
	}
}

// TestADeletionThatWasUnderWayGoesOn restores a pod from the checkpoint while it is being
// deleted.
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
			withOutcomes(b).kept["1"] = v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{{Name: "a", RestartCount: 3}}}
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
			withOutcomes(b).kept["1"] = v1.PodStatus{
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

func TestRequestsCoalesceToTheNewest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		held := make(chan struct{})
		b.hold["start web/a#0"] = held
		p := newPod("web", "1", "a")
		b.create(p)
		expectCalls(t, b, "run-sandbox web#0", "start web/a#0")
		for _, image := range []string{"v2", "v3", "v4"} {
			p = p.DeepCopy()
			p.Spec.Containers[0].Image = image
			b.update(p)
		}
		close(held)
		expectCalls(t, b, "stop c2 30s", "start web/a#1")
		if got := b.newest("1", "a").Image; got != "v4" {
			t.Errorf("image = %s, want the newest", got)
		}
	})
}
