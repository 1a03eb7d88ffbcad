package pleg

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestInspectionThatIgnoresThatItsTimeIsOverIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"), newPod("other", "o=running"))
		f.deaf = true
		gate := make(chan struct{})
		f.inspectGate["p"] = gate
		b := start(t, f, Config{Period: 700 * time.Millisecond}) // no list at the time of the timeout
		began := time.Now()
		_, err := b.cache.GetNewerThan(t.Context(), "p", began.Add(-1))
		if want := 2*time.Minute + graceTime; !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != want {
			t.Errorf("after %s: %v, want a timeout after %s", time.Since(began), err, want)
		}
		if n := b.hanging.Load(); n != 0 {
			t.Errorf("%d inspections hang, want none that others have to make room for", n)
		}
		for range 5 {
			asked := time.Now()
			_, err = b.cache.GetNewerThan(t.Context(), "p", asked)
			if !errors.Is(err, errStillHangs) || time.Since(asked) > tick {
				t.Errorf("after %s: %v, want at once that an earlier one hangs", time.Since(asked), err)
			}
			b.nextList()
		}
		if n := f.inspected("p"); n != 1 {
			t.Errorf("%d calls hang, want 1", n)
		}
		b.told()
		close(gate)
		wantTold(t, b, "ContainerStarted p/a")
		if got := b.answer("p", time.Second); got != "a=running" {
			t.Errorf("after it came back: %q", got)
		}
	})
}

func TestInspectionOfAPodThatWentIsGivenUpSooner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		f.deaf = true
		gate := make(chan struct{})
		f.inspectGate["p"] = gate
		b := start(t, f, Config{})
		f.change(func() { delete(f.pods, "p") })
		b.nextList()
		f.change(func() { f.pods["p"] = newPod("p", "b=running"); delete(f.inspectGate, "p") })
		asked := time.Now()
		if _, err := b.cache.GetNewerThan(t.Context(), "p", asked); !errors.Is(err, errStillHangs) || time.Since(asked) > graceTime {
			t.Errorf("after %s: %v", time.Since(asked), err)
		}
		close(gate)
		wantTold(t, b, "ContainerStarted p/b")
	})
}

func TestRunLeavesCallsBehindThatIgnoreThatTheyAreToEnd(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		hang func(*fakeRuntime, chan struct{})
		logs string
	}{
		{"an inspection", func(f *fakeRuntime, gate chan struct{}) { f.inspectGate["p"] = gate }, "pods=[p]"},
		{"a list", func(f *fakeRuntime, gate chan struct{}) { f.listGate = gate }, "pods=[]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeRuntime(newPod("p", "a=running"))
				f.deaf = true
				gate := make(chan struct{})
				tt.hang(f, gate)
				defer close(gate) // otherwise its goroutine would leak
				var log bytes.Buffer
				b := start(t, f, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
				began := time.Now()
				b.stop()
				if took := time.Since(began); took != endTime {
					t.Errorf("Run took %s to end, want %s", took, endTime)
				}
				if !strings.Contains(log.String(), tt.logs) {
					t.Errorf("log:\n%swant %s", &log, tt.logs)
				}
			})
		})
	}
}
