package worker

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

func TestKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		wanted, waiting, orphan := newPod("web", "1", "a"), newPod("web", "2", "a"), newPod("orphan", "3", "a")
		b.create(wanted)
		synctest.Wait()
		b.create(waiting)
		b.create(orphan)
		synctest.Wait()
		b.taken()

		got := b.pool.SyncKnownPods(wants("1"))
		// A pod that has not started is removed at once; a pod that has started is terminated.
		if diff := cmp.Diff(map[types.UID]State{"1": Syncing, "3": Terminating}, got); diff != "" {
			t.Errorf("workers (-want +got):\n%s", diff)
		}
		synctest.Wait()
		if got := b.newest("3", "a").State; got != "exited" {
			t.Errorf("the orphan's container is %s, want exited", got)
		}
		if diff := cmp.Diff(map[types.UID]State{"1": Syncing}, b.pool.SyncKnownPods(wants("1"))); diff != "" {
			t.Errorf("workers (-want +got):\n%s", diff)
		}
	})
}

func TestKnownReplaysNothingThatIsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a")
		b.create(p)
		synctest.Wait()
		b.taken()
		held := make(chan struct{})
		b.hold["stop c2"] = held
		b.kill(p)
		synctest.Wait()
		for range 5 {
			b.pool.SyncKnownPods(wants())
		}
		close(held)
		expectCalls(t, b, "stop c2 30s", "stop-sandbox s1", "teardown 1", "remove-cgroup 1")
	})
}

func TestKnownDoesNotHurryWhatFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a")
		b.create(p)
		synctest.Wait()
		b.taken()
		held := make(chan struct{})
		b.hold["stop c2"] = held
		b.fail["stop c2"] = errBroken
		b.kill(p)
		synctest.Wait()
		b.pool.SyncKnownPods(wants()) // while the container is being stopped
		close(held)
		expectCalls(t, b, "stop c2 30s")
	})
}

func TestAnOrphanIsEndedWhateverItDoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.hold["start web/a"] = make(chan struct{})
		b.create(newPod("web", "1", "a"))
		synctest.Wait()
		b.taken()
		b.pool.SyncKnownPods(wants())
		expectCalls(t, b, "stop-sandbox s1", "teardown 1", "remove-cgroup 1")
	})
}

func TestARemovedPodLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fail["start"] = errBroken
		p := newPod("web", "1", "a")
		b.create(p)
		synctest.Wait()
		b.kill(p)
		synctest.Wait()
		b.pool.SyncKnownPods(wants())
		if _, ok := b.cfg.Reasons.Get("1", "a"); ok {
			t.Error("the reason cache remembers the pod")
		}
		p2 := b.pool
		if len(p2.records)+len(p2.queue.due)+len(p2.backoff.entries)+len(p2.names.holders)+len(p2.names.waiting) != 0 {
			t.Errorf("records %v, queue %v, backoff %v, names %+v; want nothing", p2.records, p2.queue.due, p2.backoff.entries, p2.names)
		}
	})
}

func TestAPodThatIsToComeBackGoesOnEnding(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a")
		b.create(p)
		synctest.Wait()
		b.fail["stop-sandbox"] = errBroken
		b.kill(p)
		synctest.Wait()
		time.Sleep(time.Minute)
		if due := b.pool.Due(); len(due) != 1 { // the caller of Due does not have the pod at this time
			t.Fatalf("due = %v, want the pod whose end has failed", due)
		}
		b.create(p)
		delete(b.fail, "stop-sandbox")
		b.pool.SyncKnownPods(wants("1"))
		synctest.Wait()
		if got := b.state("1"); got != Finished {
			t.Errorf("state = %s, want finished", got)
		}
		if workers := b.pool.SyncKnownPods(wants("1")); len(workers) != 0 {
			t.Errorf("workers = %v, want none: the pod is to be made again", workers)
		}
	})
}

// orphan adds a running pod that no source wants to the runtime, and returns it.
func orphan(b *bench, containers ...string) *Orphan {
	b.change("9", func(o *status.ObservedPod) {
		o.Name, o.Namespace = "stray", "default"
		o.Sandboxes = []status.ObservedSandbox{{ID: "s0", Ready: true}}
		for _, id := range containers {
			o.Containers = append(o.Containers, status.ObservedContainer{ID: id, Name: id, State: status.StateRunning})
		}
	})
	return &b.pool.Orphans()[0]
}

func TestEndThatFailedIsTriedAgain(t *testing.T) {
	t.Parallel()
	ends := map[string]struct {
		call string
		end  func(*bench) types.UID
	}{
		"of a pod that was removed, in its containers": {"stop ", removed},
		"of a pod that was removed, in its volumes":    {"teardown ", removed},
		"of a pod that runs for nobody": {"stop ", func(b *bench) types.UID {
			b.pool.KillOrphan(orphan(b, "c0"))
			return "9"
		}},
	}
	for name, tc := range ends {
		for held, wanted := range map[string]bool{
			"": false, ", while a document with its UID is held": true,
		} {
			t.Run(name+held, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					b := newBench(t)
					b.fail[tc.call] = status.ErrRuntimeUnavailable
					uid := tc.end(b)
					synctest.Wait()
					if b.state(uid) == Syncing || b.state(uid) == Finished {
						t.Fatalf("it is %s, want one that has failed to end", b.state(uid))
					}
					delete(b.fail, tc.call)
					b.housekeep(10*time.Second, func(types.UID) bool { return wanted })
					if s := b.state(uid); s != 0 && s != Finished {
						t.Errorf("after 10 s it is %s still", s)
					}
				})
			})
		}
	}
}

// removed creates and kills a pod, as when its source has removed it, and returns its UID.
func removed(b *bench) types.UID {
	p := newPod("web", "1", "a")
	b.create(p)
	synctest.Wait()
	b.kill(p)
	return p.UID
}

func TestEndThatGoesOnFailingIsTriedAsOftenAsItsBackOffSays(t *testing.T) {
	t.Parallel()
	for name, due := range map[string]bool{"where its time is taken": true, "where nobody takes its time": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.fail["stop "] = errBroken
				removed(b)
				synctest.Wait()
				b.taken()
				for range 60 {
					time.Sleep(2 * time.Second)
					if due {
						b.pool.Due()
					}
					b.pool.SyncKnownPods(wants("1"))
					synctest.Wait()
				}
				stops := 0
				for _, call := range b.taken() {
					if strings.HasPrefix(call, "stop ") {
						stops++
					}
				}
				if stops < 9 || stops > 12 {
					t.Errorf("tried %d times in 2 min, want about every 10 s", stops)
				}
			})
		})
	}
}

func TestOrphanThatRunsMoreThanWhenItWasFoundIsEnded(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]string{
		"at the next try":                        "",
		"also when what it was found with fails": "stop c0",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				if fail != "" {
					b.fail[fail] = errBroken
				}
				found := orphan(b, "c0")
				// The runtime completes a request of an earlier agent only now.
				b.change("9", func(o *status.ObservedPod) {
					o.Sandboxes = append([]status.ObservedSandbox{{ID: "s1", Attempt: 1, Ready: true}}, o.Sandboxes...)
					o.Containers = append([]status.ObservedContainer{{ID: "c1", Name: "a", State: status.StateRunning}}, o.Containers...)
				})
				b.pool.KillOrphan(found)
				b.housekeep(10*time.Second, wants())
				if got := b.newest("9", "a").State; got != status.StateExited {
					t.Errorf("what came after it was found is %s, want exited", got)
				}
				if fail == "" && b.state("9") != 0 {
					t.Errorf("it is %s still", b.state("9"))
				}
			})
		})
	}
}

func TestOrphanThatCannotBeInspectedIsStoppedAsItWasFound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		found := orphan(b, "c0", "c1")
		b.fail["stop c1"] = errBroken
		b.pool.KillOrphan(found)
		synctest.Wait()
		delete(b.fail, "stop c1")
		b.blind = true
		b.housekeep(10*time.Second, wants())
		if got := b.newest("9", "c1").State; got != status.StateExited {
			t.Errorf("a container of it is %s, want exited", got)
		}
		b.blind = false
		b.housekeep(10*time.Second, wants())
		if b.state("9") != 0 {
			t.Errorf("it is %s still, although it can be seen that it has ended", b.state("9"))
		}
	})
}

// evict sets the status of a preempted pod.
func evict(st *v1.PodStatus) { st.Phase, st.Reason = v1.PodFailed, "Preempting" }

func TestAPodThatIsPushedOutBeforeItBeganSaysSoToTheNextAgentToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := withOutcomes(b)
		first, second := newPod("web", "1", "a"), newPod("web", "2", "a")
		b.create(first)
		synctest.Wait()
		b.create(second)
		expectCalls(t, b, "run-sandbox web#0", "start web/a#0")
		done := make(chan struct{})
		b.pool.Submit(Request{Kind: Kill, Pod: second, Kill: &KillOptions{Evict: true, Status: evict, Done: done}})
		expectCalls(t, b)
		<-done
		if st, _ := b.store.Get("2"); st.Phase != v1.PodFailed || st.Reason != "Preempting" || b.state("2") != Finished {
			t.Errorf("its worker is %s, and its status says %q %q", b.state("2"), st.Phase, st.Reason)
		}
		if b.pool.Stopping("2") {
			t.Error("its containers are stopped, though it never had any")
		}
		if book.ends["2"] != v1.PodFailed || book.early {
			t.Errorf("kept for the next agent: %q, shown before that: %v", book.ends["2"], book.early)
		}
		b.kill(first)
		expectCalls(t, b, "stop c2 30s", "stop-sandbox s1", "teardown 1", "remove-cgroup 1")
	})
}

func TestOnlyAPodOfWhichNothingHasBegunIsTakenBack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(b *bench, p *v1.Pod)
		want   bool
	}{
		"one that waits for another of its name": {func(*bench, *v1.Pod) {}, true},
		"not one that is being ended": {func(b *bench, p *v1.Pod) {
			b.pool.Submit(Request{Kind: Kill, Pod: p, Kill: &KillOptions{Evict: true}})
		}, false},
		"not one that has begun, though nothing runs yet": {func(b *bench, _ *v1.Pod) {
			b.hold["run-sandbox"] = make(chan struct{})
			b.kill(newPod("web", "1", "a"))
		}, false},
		"not one that runs": {func(b *bench, p *v1.Pod) { b.kill(newPod("web", "1", "a")); synctest.Wait(); b.sync(p) }, false},
		"not one of which something runs": {func(b *bench, _ *v1.Pod) {
			b.change("2", func(o *status.ObservedPod) { o.Sandboxes = []status.ObservedSandbox{{ID: "s", Ready: true}} })
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				defer b.pool.Stop(t.Context())
				b.create(newPod("web", "1", "a"))
				synctest.Wait()
				second := newPod("web", "2", "a")
				b.create(second)
				synctest.Wait()
				test.change(b, second)
				synctest.Wait()
				if got := b.pool.CancelStart("2"); got != test.want || b.pool.Has("2") == test.want || (b.phase("2") == "") != test.want {
					t.Errorf("taken back: %v; it has a worker: %v; phase %q", got, b.pool.Has("2"), b.phase("2"))
				}
				b.taken()
				b.kill(newPod("web", "1", "a"))
				synctest.Wait()
				if o := b.newest("2", "a"); test.want && o.ID != "" {
					t.Error("it has started")
				}
				if b.pool.CancelStart("3") {
					t.Error("one that nobody knows is taken back")
				}
			})
		})
	}
}
