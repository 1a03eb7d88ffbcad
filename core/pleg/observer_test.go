package pleg

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/status"
)

// notes keeps what an observer is told, in whole milliseconds.
type notes struct {
	mu    sync.Mutex
	lines []string
}

func (n *notes) note(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, fmt.Sprintf(format, args...))
}

func (n *notes) Relisted(d time.Duration)  { n.note("relisted %d", d.Milliseconds()) }
func (n *notes) Interval(d time.Duration)  { n.note("interval %d", d.Milliseconds()) }
func (n *notes) Inspected(d time.Duration) { n.note("inspected %d", d.Milliseconds()) }
func (n *notes) StreamUp(up bool)          { n.note("stream %v", up) }
func (n *notes) Dropped(d int)             { n.note("dropped %d", d) }
func (n *notes) Lag(d time.Duration)       { n.note("lag %d", d.Milliseconds()) }

// take gives the lines since it was called last.
func (n *notes) take() []string {
	synctest.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	lines := n.lines
	n.lines = nil
	return lines
}

func TestObserver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n notes
		f := newFakeRuntime(newPod("p", "a=running"))
		s := newEventStream(f)
		b := start(t, f, Config{Observer: &n})
		want := func(when string, lines ...string) {
			t.Helper()
			if d := cmp.Diff(lines, n.take()); d != "" {
				t.Errorf("%s (-want +got):\n%s", when, d)
			}
		}
		want("at the start", "relisted 0", "inspected 0")
		gate := make(chan struct{})
		f.change(func() { f.listGate = gate })
		time.Sleep(1300 * time.Millisecond)
		close(gate)
		f.change(func() { f.listGate = nil })
		want("after a list that took 300 ms", "interval 1000", "relisted 300")
		time.Sleep(2 * time.Second)
		want("when events are relied on", "interval 1300", "relisted 0", "interval 1000", "stream true", "relisted 0")

		happened := time.Now().Round(0)
		time.Sleep(5 * time.Millisecond)
		gate = make(chan struct{})
		f.change(func() { f.pods["p"] = newPod("p", "a=exited", "b=running"); f.inspectGate["p"] = gate })
		s.changes <- status.PodChange{UID: "p", Kind: status.ChangeDone, At: happened}
		time.Sleep(7 * time.Millisecond)
		close(gate)
		time.Sleep(2 * time.Millisecond)
		want("after an event", "inspected 7", "lag 12")
		s.changes <- status.PodChange{UID: "p", Kind: status.ChangeDone, At: happened.Add(-time.Hour)}
		b.settle()
		want("after an event from before", "inspected 0")
		s.changes <- status.PodChange{UID: "p", Kind: status.ChangeDone, At: happened.Add(time.Hour)}
		b.settle()
		want("after an event from the future", "inspected 0", "lag 0")

		s.refuses(errBroken)
		s.breaks <- errBroken
		synctest.Wait()
		if lines := n.take(); len(lines) != 3 || lines[0] != "stream false" || lines[2] != "relisted 0" {
			t.Errorf("when they are not any more: %q", lines)
		}
	})
}
