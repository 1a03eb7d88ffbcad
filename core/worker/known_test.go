package worker

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
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

		got := b.pool.Known(wants("1"))
		// Not started: gone at once. Started: on its way.
		if diff := cmp.Diff(map[types.UID]State{"1": Syncing, "3": Terminating}, got); diff != "" {
			t.Errorf("workers (-want +got):\n%s", diff)
		}
		synctest.Wait()
		if got := b.newest("3", "a").State; got != "exited" {
			t.Errorf("the orphan's container is %s, want exited", got)
		}
		if diff := cmp.Diff(map[types.UID]State{"1": Syncing}, b.pool.Known(wants("1"))); diff != "" {
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
			b.pool.Known(wants())
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
		b.pool.Known(wants()) // while the stop is under way
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
		b.pool.Known(wants())
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
		b.pool.Known(wants())
		if _, ok := b.cfg.Reasons.Get("1", "a"); ok {
			t.Error("the reason cache remembers the pod")
		}
		p2 := b.pool
		if len(p2.records)+len(p2.queue.due)+len(p2.backoff.entries)+len(p2.gate.holders)+len(p2.gate.waiting) != 0 {
			t.Errorf("records %v, queue %v, backoff %v, gate %+v; want nothing", p2.records, p2.queue.due, p2.backoff.entries, p2.gate)
		}
	})
}

func TestQueries(t *testing.T) {
	t.Parallel()
	type answers struct {
		Has, KnownTerminated, TerminationRequested, MayRunContainers bool
		Stopping, RuntimeRemovable, ContentRemovable, Done           bool
	}
	ask := func(p *Pool, uid types.UID) answers {
		return answers{
			p.Has(uid), p.KnownTerminated(uid), p.TerminationRequested(uid), p.MayRunContainers(uid),
			p.Stopping(uid), p.RuntimeRemovable(uid), p.ContentRemovable(uid), p.Done(uid),
		}
	}
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		expect := func(when string, uid types.UID, want answers) {
			t.Helper()
			if diff := cmp.Diff(want, ask(b.pool, uid)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
		}
		expect("unknown, before Known was called", "0", answers{MayRunContainers: true})
		p := newPod("web", "1", "a")
		b.create(p)
		synctest.Wait()
		b.pool.Known(wants("1"))
		expect("unknown, afterwards", "0", answers{Stopping: true, RuntimeRemovable: true, ContentRemovable: true, Done: true})
		running(b, newPod("stray", "2", "a"))
		expect("unknown, but running", "2", answers{Stopping: true, Done: true})
		expect("syncing", "1", answers{Has: true, MayRunContainers: true})

		b.fail["teardown"] = errBroken
		held := make(chan struct{})
		b.hold["stop c2"] = held
		b.kill(p)
		synctest.Wait()
		expect("terminating", "1", answers{Has: true, TerminationRequested: true, MayRunContainers: true, Stopping: true})
		close(held)
		synctest.Wait()
		expect("terminated, not deleted", "1", answers{
			Has: true, KnownTerminated: true, TerminationRequested: true, Stopping: true, RuntimeRemovable: true,
		})
		b.pool.Known(wants())
		expect("terminated and deleted", "1", answers{
			Has: true, KnownTerminated: true, TerminationRequested: true, Stopping: true, RuntimeRemovable: true, ContentRemovable: true,
		})
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
		if due := b.pool.Due(); len(due) != 1 { // whoever asks has no such pod just then
			t.Fatalf("due = %v, want the pod whose end has failed", due)
		}
		b.create(p)
		delete(b.fail, "stop-sandbox")
		b.pool.Known(wants("1"))
		synctest.Wait()
		if got := b.state("1"); got != Finished {
			t.Errorf("state = %s, want finished", got)
		}
		if workers := b.pool.Known(wants("1")); len(workers) != 0 {
			t.Errorf("workers = %v, want none: the pod is to be made again", workers)
		}
	})
}
