package worker

import (
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/status"
)

// evict is what pushes a pod out.
func evict(st *v1.PodStatus) { st.Phase, st.Reason = v1.PodFailed, "Preempting" }

func TestAPodThatIsPushedOutBeforeItBeganSaysSoToTheNextAgentToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := remembering(b)
		first, second := newPod("web", "1", "a"), newPod("web", "2", "a")
		b.create(first)
		synctest.Wait()
		b.create(second)
		expectCalls(t, b, "run-sandbox web#0", "start web/a#0")
		done := make(chan struct{})
		b.pool.Update(Request{Kind: Kill, Pod: second, Kill: &KillOptions{Evict: true, Status: evict, Done: done}})
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
			b.pool.Update(Request{Kind: Kill, Pod: p, Kill: &KillOptions{Evict: true}})
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
				if got := b.pool.Withdraw("2"); got != test.want || b.pool.Has("2") == test.want || (b.phase("2") == "") != test.want {
					t.Errorf("taken back: %v; it has a worker: %v; phase %q", got, b.pool.Has("2"), b.phase("2"))
				}
				b.taken()
				b.kill(newPod("web", "1", "a"))
				synctest.Wait()
				if o := b.newest("2", "a"); test.want && o.ID != "" {
					t.Error("it has started")
				}
				if b.pool.Withdraw("3") {
					t.Error("one that nobody knows is taken back")
				}
			})
		})
	}
}
