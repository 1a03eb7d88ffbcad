package worker

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/status"
)

func TestStopLetsACallFinishAndBeginsNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		held := make(chan struct{})
		b.hold["run-sandbox"] = held
		p := newPod("web", "1", "a")
		b.create(p)
		expectCalls(t, b, "run-sandbox web#0")
		time.AfterFunc(3*time.Second, func() { close(held) })
		begun := time.Now()
		b.pool.Stop(t.Context())
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("Stop took %s, want the 3s of the call", took)
		}
		if len(b.pods["1"].Sandboxes) != 1 {
			t.Error("the call in flight was given up")
		}
		expectCalls(t, b)
		if b.recorded("web FailedCreatePodSandBox") || b.recorded("web FailedSync") {
			t.Error("stopping is reported as a failure of the pod")
		}
	})
}

func TestStopLeavesTheSandboxOfAContainerThatStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		held := make(chan struct{})
		b.hold["stop c2"] = held
		p := newPod("web", "1", "a")
		b.create(p)
		synctest.Wait()
		b.kill(p)
		synctest.Wait()
		b.taken()
		time.AfterFunc(3*time.Second, func() { close(held) })
		b.pool.Stop(t.Context())
		if got := b.newest("1", "a").State; got != status.StateExited {
			t.Errorf("the container is %s, want exited: the call could finish", got)
		}
		expectCalls(t, b)
	})
}

func TestStopGivesUpCallsAfterTenSeconds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ limit, want time.Duration }{
		"of its own":               {time.Hour, 10 * time.Second},
		"or when its context ends": {4 * time.Second, 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.hold["stop c2"] = make(chan struct{})
				p := newPod("web", "1", "a")
				b.create(p)
				synctest.Wait()
				b.kill(p)
				synctest.Wait()
				b.taken()
				ctx, cancel := context.WithTimeout(t.Context(), tc.limit)
				defer cancel()
				begun := time.Now()
				b.pool.Stop(ctx)
				if took := time.Since(begun); took != tc.want {
					t.Errorf("Stop took %s, want %s", took, tc.want)
				}
				expectCalls(t, b) // above all, no sandbox is stopped
			})
		})
	}
}

// deafRuntime stops containers when it is let go, whatever the context says.
type deafRuntime struct {
	*node
	held chan struct{}
}

func (r deafRuntime) StopContainer(context.Context, string, time.Duration) error {
	<-r.held
	return nil
}

func TestStopLeavesCallsBehindThatIgnoreThatTheyAreToEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		held := make(chan struct{})
		defer close(held) // else the worker would stay
		var log bytes.Buffer
		b.cfg.Runtime, b.cfg.Log = deafRuntime{b.node, held}, slog.New(slog.NewTextHandler(&log, nil))
		b.pool = New(b.cfg)
		p := newPod("web", "1", "a")
		b.create(p)
		b.create(newPod("other", "2", "a"))
		synctest.Wait()
		b.kill(p)
		b.pool.KillStray(stray(b, "c0"))
		synctest.Wait()
		begun := time.Now()
		b.pool.Stop(t.Context())
		if took := time.Since(begun); took != stopTimeout+leaveTimeout {
			t.Errorf("Stop took %s, want %s", took, stopTimeout+leaveTimeout)
		}
		if want := `pods="[9 default/web]"`; !strings.Contains(log.String(), want) {
			t.Errorf("log:\n%swant %s", &log, want)
		}
	})
}

func TestStopLeavesEveryPodRunning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a")
		b.create(p)
		synctest.Wait()
		b.taken()
		begun := time.Now()
		b.pool.Stop(t.Context())
		if took := time.Since(begun); took != 0 {
			t.Errorf("Stop took %s with nothing in flight", took)
		}
		b.kill(p)
		b.create(newPod("late", "2", "a"))
		if got := b.pool.Known(wants()); got != nil {
			t.Errorf("a stopped pool still has workers: %v", got)
		}
		expectCalls(t, b)
		if got := b.newest("1", "a").State; got != status.StateRunning {
			t.Errorf("the container is %s, want running", got)
		}
	})
}

func TestStopDoesNotWaitForObservations(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.cfg.Cache = lateCache{b.node, make(chan struct{})}
		b.pool = New(b.cfg)
		b.create(newPod("web", "1", "a"))
		synctest.Wait()
		begun := time.Now()
		b.pool.Stop(t.Context())
		if took := time.Since(begun); took != 0 {
			t.Errorf("Stop took %s, want no time", took)
		}
	})
}
