package worker

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wardlet/wardlet/core/status"
)

// spoken keeps what is logged, without attributes.
type spoken struct {
	slog.Handler
	mu    sync.Mutex
	lines []string
}

func (s *spoken) Enabled(context.Context, slog.Level) bool { return true }

func (s *spoken) Handle(_ context.Context, r slog.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, r.Message)
	return nil
}

// times is how often something was logged since it was asked last.
func (s *spoken) times(line string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.lines)
	s.lines = slices.DeleteFunc(s.lines, func(l string) bool { return l == line })
	return before - len(s.lines)
}

const (
	lineWrong      = "pod is not as it should be yet"
	lineOver       = "what was wrong with the pod is over"
	lineNotRemoved = "old container instance not removed"
)

func listen(b *bench) *spoken {
	s := &spoken{Handler: slog.DiscardHandler}
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
		tend(b, p, 10*time.Minute)
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
		tend(b, p, 20*time.Second)
		if n := said.times(lineWrong); n != 1 {
			t.Errorf("another fault is logged %d times at first", n)
		}
		if n := said.times(lineOver); n != 0 {
			t.Errorf("before it was over that was logged %d times", n)
		}

		b.mu.Lock()
		clear(b.fail)
		b.mu.Unlock()
		tend(b, p, 10*time.Minute)
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
		tend(b, p, 10*time.Minute)
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
		tend(b, p, 10*time.Minute)
		if n := said.times(lineNotRemoved); n < 7 || n > 10 {
			t.Errorf("in ten minutes it is logged %d times", n)
		}
	})
}
