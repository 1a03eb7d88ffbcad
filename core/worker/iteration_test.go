package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// TestOnlyWhatAWorkerHasDoneMakesWhatItSawOld checks that a worker needs a newer observation of
// its pod only after it has changed something.
func TestOnlyWhatAWorkerHasDoneMakesWhatItSawOld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a")
		running(b, p)
		b.create(p)
		synctest.Wait()
		rec := b.pool.records["1"]
		for range 3 {
			time.Sleep(time.Second)
			b.pool.Submit(Request{Kind: Sync, Pod: p})
			synctest.Wait()
		}
		if !rec.lastChange.IsZero() {
			t.Error("a worker that has done nothing wants to look again")
		}
		time.Sleep(time.Second)
		b.pool.Submit(Request{Kind: Kill, Pod: p})
		synctest.Wait()
		if b.state("1") != Finished || rec.lastChange.IsZero() {
			t.Errorf("state %s, what it did last is from %s", b.state("1"), rec.lastChange)
		}
	})
}

func TestATurnThatFailedMakesWhatWasSeenOld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a")
		running(b, p)
		b.fail["setup web"] = errBroken
		b.create(p)
		synctest.Wait()
		if b.pool.records["1"].lastChange.IsZero() {
			t.Error("how far it came is not known, yet it would not look again")
		}
	})
}

func TestAFailedTurnIsLookedAtWhereSomethingWasTried(t *testing.T) {
	t.Parallel()
	away := func(container string) func(*status.ObservedPod) {
		return func(o *status.ObservedPod) {
			o.Containers = slices.DeleteFunc(o.Containers, func(c status.ObservedContainer) bool { return c.Name == container })
		}
	}
	changed := func(o *status.ObservedPod) { o.Containers[0].Hash = "another" }
	for name, tc := range map[string]struct {
		// before changes the pod in the runtime before the turn. If it is nil, a and b run.
		before func(*status.ObservedPod)
		fail   string
		err    error
		want   int
	}{
		"a start that fails":                  {away("b"), "start web/b", &status.Fault{Reason: "RunContainerError", Err: errBroken}, 1},
		"a start while the runtime is away":   {away("b"), "start web/b", errBroken, 1},
		"a stop that fails":                   {changed, "stop a-1", errBroken, 1},
		"a stop, though no start follows":     {changed, "mounts web/a", errBroken, 1},
		"a start, though another cannot be":   {func(o *status.ObservedPod) { o.Containers = nil }, "mounts web/b", errBroken, 1},
		"not an image that cannot be fetched": {away("b"), "image img", &status.Fault{Reason: "ErrImagePull", Err: errBroken}, 0},
		"not mounts that cannot be made":      {away("b"), "mounts web/b", errBroken, 0},
		"not a cgroup that cannot be made":    {away("b"), "cgroup web", errBroken, 0},
		"not volumes that cannot be made":     {away("b"), "setup web", errBroken, 0},
		"not a sandbox that cannot be made":   {func(o *status.ObservedPod) { o.Sandboxes[0].Ready = false }, "run-sandbox web", errBroken, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.fail[tc.fail] = tc.err
				p := newPod("web", "1", "a", "b")
				running(b, p)
				b.change("1", tc.before)
				b.create(p)
				synctest.Wait()
				if b.log.count.Load() != 1 {
					t.Errorf("%d warnings, want that of the turn that failed", b.log.count.Load())
				}
				if b.inspections != tc.want {
					t.Errorf("%d inspections were asked for, want %d", b.inspections, tc.want)
				}
			})
		})
	}
}

func TestAContainerThatWaitsAfterItsCrashIsNotLookedAt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a")
		crash := status.ObservedContainer{ID: "before", Name: "a", State: status.StateExited, FinishedAt: time.Now()}
		if err := b.pool.checkBackoff(p, &p.Spec.Containers[0], &crash, &status.ObservedPod{}); err != nil {
			t.Fatal(err)
		}
		running(b, p)
		b.exit("a-1", 1)
		b.create(p)
		synctest.Wait()
		if !b.recorded("web BackOff") || b.inspections != 0 {
			t.Errorf("%d inspections were asked for while it waits, want none", b.inspections)
		}
	})
}

// leaving is a runtime in which a container that fails to start is left as exited.
type leaving struct{ *node }

func (l leaving) StartContainer(_ context.Context, run pod.ContainerRun) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.pods[run.Pod.UID]
	o.Containers = slices.Insert(o.Containers, 0, status.ObservedContainer{
		ID: "left", Name: run.Container.Name, State: status.StateExited, ExitCode: 128, FinishedAt: time.Now(),
	})
	return "left", &status.Fault{Reason: "RunContainerError", Err: errBroken}
}

func TestWhatIsLeftOfAFailedStartIsSeenBeforeTheNextList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.cfg.Runtime = leaving{b.node}
		b.pool = New(b.cfg)
		defer b.pool.Stop(t.Context())
		b.create(newPod("web", "1", "a"))
		synctest.Wait()
		observed, err := b.cache.Get("1")
		if c := observed.Newest("a"); err != nil || c == nil || c.ID != "left" {
			t.Errorf("of the container is seen %+v, %v", c, err)
		}
	})
}

// fakeObserver records the turns of a pool, with the time each took.
type fakeObserver struct {
	mu   sync.Mutex
	told []string
}

func (o *fakeObserver) ObserveSync(operation string, took time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.told = append(o.told, fmt.Sprint(operation, " ", took))
}

// expect waits until the pool is idle and compares the turns since the last call.
func (o *fakeObserver) expect(t *testing.T, when string, want ...string) {
	t.Helper()
	synctest.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	if diff := cmp.Diff(want, o.told, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s: turns (-want +got):\n%s", when, diff)
	}
	o.told = nil
}

// observedBench returns a bench whose pool reports its turns to the observer.
func observedBench(t *testing.T) (*bench, *fakeObserver) {
	t.Helper()
	b, o := newBench(t), &fakeObserver{}
	b.cfg.Observer = o
	b.pool.Stop(t.Context())
	b.pool = New(b.cfg)
	t.Cleanup(func() { b.pool.Stop(t.Context()) })
	return b, o
}

func TestEveryTurnIsToldByWhatItDoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, o := observedBench(t)
		p := newPod("web", "1", "a")
		b.create(p)
		o.expect(t, "a new pod", "create 0s")
		b.sync(p)
		o.expect(t, "the same version again", "sync 0s")
		newer := p.DeepCopy()
		newer.Labels = map[string]string{"a": "b"}
		b.update(newer)
		o.expect(t, "another version", "update 0s")
		b.kill(newer)
		o.expect(t, "its end", "kill 0s", "terminated 0s")
		b.sync(newer)
		o.expect(t, "a pod that has ended")

		b.pool.SyncKnownPods(wants("1"))
		b.change("2", func(is *status.ObservedPod) { _, running := good(); *is = *running; is.UID = "2" })
		b.pool.Submit(Request{Kind: Kill, Observed: b.pods["2"]})
		o.expect(t, "a pod that nobody knows", "kill 0s")
	})
}

func TestATurnIsTimedUntilItEndsWellOrNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, o := observedBench(t)
		pulled := make(chan struct{})
		b.hold["start web/a"] = pulled
		b.fail["start web/a"] = errors.New("no")
		p := newPod("web", "1", "a")
		b.create(p)
		synctest.Wait()
		time.Sleep(7 * time.Second)
		o.expect(t, "while it goes on")
		close(pulled)
		o.expect(t, "it has failed", "create 7s")
		b.sync(p)
		o.expect(t, "the next try", "sync 0s")
	})
}

// logLines records the messages of a log, without attributes.
type logLines struct {
	slog.Handler
	mu    sync.Mutex
	lines []string
}

func (s *logLines) Enabled(context.Context, slog.Level) bool { return true }

func (s *logLines) Handle(_ context.Context, r slog.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, r.Message)
	return nil
}

// times returns how often a message was logged since the last call.
func (s *logLines) times(line string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.lines)
	s.lines = slices.DeleteFunc(s.lines, func(l string) bool { return l == line })
	return before - len(s.lines)
}

const (
	lineWrong      = "pod is not as it should be yet"
	lineOver       = "the pod recovered"
	lineNotRemoved = "old container instance not removed"
)

func listen(b *bench) *logLines {
	s := &logLines{Handler: slog.DiscardHandler}
	b.cfg.Log = slog.New(s)
	b.pool = New(b.cfg)
	return s
}

func TestAFaultThatStaysIsLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		said := listen(b)
		defer b.pool.Stop(t.Context())
		p := newPod("web", "1", "a")
		b.fail["run-sandbox"] = errBroken
		b.create(p)
		synctest.Wait()
		if n := said.times(lineWrong); n != 1 {
			t.Errorf("when it begins it is logged %d times", n)
		}
		syncFor(b, p, 10*time.Minute)
		if n := said.times(lineWrong); n < 7 || n > 10 {
			t.Errorf("in ten minutes it is logged %d times", n)
		}
		if tries := len(b.taken()); tries < 40 {
			t.Errorf("in ten minutes there were %d tries", tries)
		}

		b.mu.Lock()
		delete(b.fail, "run-sandbox")
		b.fail["start web/a"] = &status.Fault{Reason: "CreateContainerError", Err: errBroken}
		b.mu.Unlock()
		syncFor(b, p, 20*time.Second)
		if n := said.times(lineWrong); n != 1 {
			t.Errorf("another fault is logged %d times at first", n)
		}
		if n := said.times(lineOver); n != 0 {
			t.Errorf("before it was over that was logged %d times", n)
		}

		b.mu.Lock()
		clear(b.fail)
		b.mu.Unlock()
		syncFor(b, p, 10*time.Minute)
		if n := said.times(lineOver); n != 1 {
			t.Errorf("that it is over is logged %d times", n)
		}
		if n := said.times(lineWrong); n != 0 {
			t.Errorf("after it was over it was logged %d times", n)
		}
	})
}

func TestAPodWithoutAFaultIsNotLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		said := listen(b)
		defer b.pool.Stop(t.Context())
		p := newPod("web", "1", "a")
		b.create(p)
		syncFor(b, p, 10*time.Minute)
		b.kill(p)
		synctest.Wait()
		if diff := cmp.Diff([]string{}, said.lines, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("logged (-want +got):\n%s", diff)
		}
	})
}

func TestAnInstanceThatCannotBeRemovedIsLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		said := listen(b)
		defer b.pool.Stop(t.Context())
		p := newPod("web", "1", "a")
		running(b, p)
		b.change("1", func(o *status.ObservedPod) {
			o.Containers = nil
			for _, id := range []string{"x2", "x1"} {
				o.Containers = append(o.Containers, status.ObservedContainer{ID: id, Name: "a", State: status.StateExited, Hash: "a=img"})
			}
		})
		b.fail["remove x1"] = errBroken
		b.fail["start web/a"] = &status.Fault{Reason: "CreateContainerError", Err: errBroken}
		b.create(p)
		syncFor(b, p, 10*time.Minute)
		if n := said.times(lineNotRemoved); n < 7 || n > 10 {
			t.Errorf("in ten minutes it is logged %d times", n)
		}
	})
}

// TestAWakeDuringASyncThatFails wakes a pod during a sync that then fails: another sync must
// follow, because what the pod needs may have changed meanwhile.
func TestAWakeDuringASyncThatFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		held := make(chan struct{})
		b.fail["run-sandbox web#0"], b.hold["run-sandbox web#0"] = errBroken, held
		b.create(newPod("web", "1", "a"))
		expectCalls(t, b, "run-sandbox web#0")
		b.pool.Wake("1")
		close(held)
		expectCalls(t, b, "run-sandbox web#0")
	})
}

// TestAWakeOfAPodAtRest checks that a wake leads to a sync at once, before the sync loop asks
// for due pods.
func TestAWakeOfAPodAtRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		defer b.pool.Stop(t.Context())
		p := newPod("web", "1", "a")
		running(b, p)
		b.create(p)
		expectCalls(t, b)
		b.change("1", func(o *status.ObservedPod) { o.Containers[0].State = status.StateExited })
		b.pool.Wake("1")
		expectCalls(t, b, "start web/a#1")
	})
}

// staleError is the error of volumes whose files could not be updated.
type staleError struct{}

func (staleError) Error() string { return "the files stay as they were" }
func (staleError) Stale() bool   { return true }

func TestVolumesThatAreNotNewKeepNoPodFromRunning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		defer b.pool.Stop(t.Context())
		b.fail["setup web"] = staleError{}
		b.create(newPod("web", "1", "a"))
		expectCalls(t, b, "run-sandbox web#0", "start web/a#0")
	})
}
