package worker

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

var webKey = restartKey{name: "web", image: "img"}

// crash asks for a restart of a dead container until the restart is allowed, and returns how
// long that took.
func crash(t *testing.T, b *restartBackoff, id string, finished time.Time) time.Duration {
	t.Helper()
	begun := time.Now()
	dead := &status.ObservedContainer{ID: id, Name: "web", FinishedAt: finished}
	for range 100 {
		wait, _ := b.reserve("1", webKey, dead)
		if wait == 0 {
			return time.Since(begun)
		}
		time.Sleep(wait)
	}
	t.Fatalf("instance %s is never allowed a successor", id)
	return 0
}

func TestBackoffSeries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newRestartBackoff(time.Now)
		for i, secs := range []int64{0, 10, 20, 40, 80, 160, 300, 300} {
			if got := crash(t, b, strconv.Itoa(i), time.Now()); got != seconds(secs) {
				t.Errorf("crash %d waits %s, want %ds", i+1, got, secs)
			}
			time.Sleep(time.Second) // the container runs for a while
		}
	})
}

func TestBackoffCountsFromTheCrash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newRestartBackoff(time.Now)
		crash(t, b, "a", time.Now())
		time.Sleep(30 * time.Second)
		if got := crash(t, b, "b", time.Now().Add(-4*time.Second)); got != 6*time.Second {
			t.Errorf("a crash seen 4 s late waits %s, want 6s", got)
		}
	})
}

func TestBackoffResets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newRestartBackoff(time.Now)
		crash(t, b, "a", time.Now())
		crash(t, b, "b", time.Now())
		time.Sleep(601 * time.Second)
		if got := crash(t, b, "c", time.Now()); got != 0 {
			t.Errorf("a crash after 601 s waits %s, want none", got)
		}
		if got := crash(t, b, "d", time.Now()); got != 10*time.Second {
			t.Errorf("the crash after that waits %s, want 10s", got)
		}
		b.forget("1")
		if got := crash(t, b, "e", time.Now()); got != 0 {
			t.Errorf("a forgotten pod waits %s, want none", got)
		}
	})
}

func TestBackoffIsPaidOncePerCrash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newRestartBackoff(time.Now)
		crash(t, b, "a", time.Now())
		crash(t, b, "b", time.Now())
		for range 5 { // the successor of b fails to start and is tried again
			if got := crash(t, b, "b", time.Now()); got != 0 {
				t.Fatalf("another try waits %s, want none", got)
			}
		}
		if got := crash(t, b, "c", time.Now()); got != 20*time.Second {
			t.Errorf("the next crash waits %s, want 20s", got)
		}
	})
}

func TestBackoffSurvivesWallClockJumps(t *testing.T) {
	t.Parallel()
	const years = 10 * 365 * 24 * time.Hour
	for name, jump := range map[string]time.Duration{"forward": years, "backward": -years} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newRestartBackoff(time.Now)
				crash(t, b, "a", time.Now())
				crash(t, b, "b", time.Now())
				finished := time.Now().Add(-jump) // a time of the wall clock before it jumped
				if got := crash(t, b, "c", finished); got != 20*time.Second {
					t.Errorf("waits %s, want 20s", got)
				}
			})
		})
	}
}

func TestAttemptFromLogs(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		files []string
		want  uint32
	}{
		"no logs":                     {nil, 0},
		"the first instance":          {[]string{"0.log"}, 1},
		"the highest counts":          {[]string{"0.log", "12.log", "3.log"}, 13},
		"rotated logs count":          {[]string{"4.log.20260102-030405", "7.log.20260102-030405.gz"}, 8},
		"other names do not count":    {[]string{"x.log", "-3.log", "9", "5.txt", "99999999999.log"}, 0},
		"names beside logs change it": {[]string{"junk", "2.log"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, f := range tc.files {
				if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := attemptFromLogs(dir)
			if err != nil || got != tc.want {
				t.Errorf("attemptFromLogs = %d, %v; want %d", got, err, tc.want)
			}
		})
	}
	t.Run("no directory", func(t *testing.T) {
		t.Parallel()
		if got, err := attemptFromLogs(filepath.Join(t.TempDir(), "none")); err != nil || got != 0 {
			t.Errorf("attemptFromLogs = %d, %v; want 0", got, err)
		}
	})
}

func TestOldInstancesArePruned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a")
		running(b, p)
		b.change("1", func(o *status.ObservedPod) {
			dead := func(id string, attempt uint32, state status.ContainerState) status.ObservedContainer {
				return status.ObservedContainer{ID: id, Name: "a", Attempt: attempt, State: state, Hash: "a=img"}
			}
			o.Containers = []status.ObservedContainer{
				dead("x5", 5, status.StateExited), dead("x4", 4, status.StateCreated),
				dead("x3", 3, status.StateExited), dead("x2", 2, status.StateExited),
				{ID: "other", Name: "gone", State: status.StateExited},
			}
		})
		b.fail["remove x4"] = errBroken // must not prevent the start
		b.create(p)
		expectCalls(t, b, "remove x4", "remove x3", "remove x2", "start web/a#6")
	})
}

func TestAContainerIsNotStartedTwice(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		state  status.ContainerState
		age    time.Duration
		starts bool
	}{
		{"one that was just made may be starting", status.StateCreated, time.Second, false},
		{"one that was made long ago is not", status.StateCreated, maxStartTime, true},
		{"one that was made in the future may be starting, and the clock was set back", status.StateCreated, -time.Hour, false},
		{"one that has ended is not", status.StateExited, time.Second, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				p := newPod("web", "1", "a")
				running(b, p)
				b.change("1", func(o *status.ObservedPod) {
					o.Containers = []status.ObservedContainer{
						{ID: "x2", Name: "a", Attempt: 2, State: tt.state, Hash: "a=img", CreatedAt: time.Now().Add(-tt.age)},
						{ID: "x1", Name: "a", Attempt: 1, State: status.StateExited, Hash: "a=img", FinishedAt: time.Now().Add(-time.Hour)},
						{ID: "x0", Name: "a", State: status.StateExited, Hash: "a=img", FinishedAt: time.Now().Add(-2 * time.Hour)},
					}
				})
				b.fail["remove x2"] = errBroken
				b.create(p)
				synctest.Wait()
				if got := slices.Contains(b.taken(), "start web/a#3"); got != tt.starts {
					t.Errorf("started: %v, want %v", got, tt.starts)
				}
				delete(b.fail, "remove x2")
				time.Sleep(startingDelay + time.Millisecond)
				if due := slices.Contains(b.pool.Due(), p.UID); due == tt.starts {
					t.Errorf("is due a moment later: %v", due)
				}
				b.sync(p)
				synctest.Wait()
				if got := slices.Contains(b.taken(), "start web/a#3"); got == tt.starts {
					t.Errorf("started a moment later: %v", got)
				}
			})
		})
	}
}

func TestRestartCountsSurviveTheRuntime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a")
		dir := filepath.Join(b.cfg.Layout.LogDir(p), "a")
		if err := os.MkdirAll(dir, 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "6.log"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		b.create(p)
		expectCalls(t, b, "run-sandbox web#0", "start web/a#7")
	})
}

// drive does the work of the sync loop for a pod: it syncs the pod when it is due and when the
// runtime has changed.
func (b *bench) drive(ctx context.Context, p *v1.Pod) {
	news := make(chan struct{}, 1)
	b.changed = func(types.UID) {
		select {
		case news <- struct{}{}:
		default:
		}
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if len(b.pool.Due()) > 0 {
				b.sync(p)
			}
		case <-news:
			b.sync(p)
		case <-ctx.Done():
			return
		}
	}
}

func TestCrashLoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); b.drive(ctx, p) }()
		synctest.Wait()
		b.create(p)
		synctest.Wait()
		for i, secs := range []int64{0, 10, 20, 40, 80, 160, 300, 300} {
			want := seconds(secs)
			c := b.newest("1", "a")
			if c.State != status.StateRunning || c.Attempt != uint32(i) {
				t.Fatalf("instance %d: %s, attempt %d", i, c.State, c.Attempt)
			}
			crashed := time.Now()
			b.exit(c.ID, 1)
			synctest.Wait()
			if want > 0 && b.waitingReason(p, "a") != "CrashLoopBackOff" {
				t.Errorf("while waiting for %s the status says %q, want CrashLoopBackOff", want, b.waitingReason(p, "a"))
			}
			for b.newest("1", "a").State != status.StateRunning {
				time.Sleep(100 * time.Millisecond)
				synctest.Wait()
			}
			// The loop asks for due pods once a second.
			if got := time.Since(crashed); got < want || got > want+2*time.Second {
				t.Errorf("crash %d is answered after %s, want %s", i+1, got, want)
			}
		}
		if !b.recorded("web BackOff") {
			t.Error("event BackOff is missing")
		}
		if b.mu.Lock(); len(b.pods["1"].Containers) != 2 {
			t.Errorf("%d instances are left, want the one that runs and the last dead one", len(b.pods["1"].Containers))
		}
		b.mu.Unlock()
		cancel()
		<-done
	})
}

func TestAContainerWaitsTwoMinutesForAnotherInstanceOfIt(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]time.Duration{
		"that was just made": 0,
		"also where the clock was set back by years since":    10 * 365 * 24 * time.Hour,
		"also where the clock was set back by less than that": time.Minute,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				p := newPod("web", "1", "a")
				running(b, p)
				b.change("1", func(o *status.ObservedPod) {
					o.Containers = []status.ObservedContainer{{ID: "x0", Name: "a", State: status.StateCreated, Hash: "a=img", CreatedAt: time.Now().Add(made)}}
				})
				b.fail["remove x0"] = errBroken
				b.create(p)
				syncFor(b, p, maxStartTime-2*startingDelay)
				if slices.Contains(b.taken(), "start web/a#1") {
					t.Error("it is started beside it")
				}
				syncFor(b, p, 4*startingDelay)
				if !slices.Contains(b.taken(), "start web/a#1") {
					t.Error("it waits for longer")
				}
			})
		})
	}
}
