package pleg

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

func wantTold(t *testing.T, b *bench, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, b.told()); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
}

func TestRelisting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(
			newPod("p", "sandbox:s=running", "a=exited", "b=running", "c=unknown"),
			newPod("q", "d=exited"),
		)
		b := start(t, f, Config{})
		wantTold(t, b, "ContainerDied p/a", "ContainerDied q/d", "ContainerStarted p/b", "ContainerStarted p/s")
		b.nextList()
		wantTold(t, b)
		if n := f.inspected("p"); n != 1 {
			t.Errorf("an unchanged pod was inspected %d times", n)
		}
		f.change(func() {
			f.pods["p"] = newPod("p", "sandbox:s=exited", "b=exited", "e=running")
			f.pods["q"] = newPod("q", "g=running")
		})
		b.nextList()
		wantTold(t, b,
			"ContainerDied p/b", "ContainerDied p/c", "ContainerDied p/s", "ContainerRemoved p/a", "ContainerRemoved p/c",
			"ContainerRemoved q/d", "ContainerStarted p/e", "ContainerStarted q/g")
	})
}

func TestCacheHasWhatAnEventTellsOf(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		b := start(t, f, Config{})
		<-b.Events()
		if p, err := b.cache.Get("p"); err != nil || shown(p) != "a=running" {
			t.Errorf("cache has %q, %v", shown(p), err)
		}
		if pods, at := b.cache.Pods(); len(pods) != 1 || at.IsZero() {
			t.Errorf("list has %d pods at %s", len(pods), at)
		}
	})
}

func TestCacheForgetsAPodThatIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=exited"))
		b := start(t, f, Config{})
		f.change(func() { delete(f.pods, "p") })
		b.nextList()
		if p, err := b.cache.Get("p"); err != nil || shown(p) != "" {
			t.Errorf("cache has %q, %v", shown(p), err)
		}
		if got := b.answer("p", time.Minute); got != "" {
			t.Errorf("newer than now: %q, want a pod without containers", got)
		}
		f.change(func() { f.pods["p"] = newPod("p", "b=running") })
		b.nextList()
		wantTold(t, b, "ContainerDied p/a", "ContainerRemoved p/a", "ContainerStarted p/b")
	})
}

func TestFailedInspectionIsTriedAgain(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	// step is the next result of the runtime and the expected events.
	type step struct {
		err  error
		pod  []string // nil for no change
		want []string
	}
	tests := []struct {
		name  string
		first []string
		steps []step
	}{
		{"nothing is told of a failure, all of it after", []string{"a=running"}, []step{
			{err: broken},
			{err: broken},
			{want: []string{"ContainerStarted p/a"}},
			{},
		}},
		{"a change that came after the failure is told too", []string{"a=running"}, []step{
			{err: broken},
			{pod: []string{"a=exited", "b=running"}, want: []string{"ContainerDied p/a", "ContainerStarted p/b"}},
		}},
		{"a change that was undone is told as a sync", []string{"a=running"}, []step{
			{want: []string{"ContainerStarted p/a"}},
			{err: broken, pod: []string{"a=exited"}},
			{pod: []string{"a=running"}, want: []string{"PodSync p/"}},
			{},
		}},
		{"a change to a state that says nothing is not told", []string{"a=running"}, []step{
			{want: []string{"ContainerStarted p/a"}},
			{err: broken, pod: []string{"a=unknown"}},
			{},
			{},
		}},
		{"a pod that goes meanwhile is told by what was told before", []string{"a=running"}, []step{
			{want: []string{"ContainerStarted p/a"}},
			{err: broken, pod: []string{"a=running", "b=running"}},
			{pod: []string{}, want: []string{"ContainerDied p/a", "ContainerRemoved p/a"}},
		}},
		{"a pod that goes before it could be inspected is told as a sync", []string{"a=running"}, []step{
			{err: broken},
			{pod: []string{}, want: []string{"PodSync p/"}},
			{},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeRuntime(newPod("other", "o=running"))
				b := start(t, f, Config{})
				wantTold(t, b, "ContainerStarted other/o")
				f.change(func() { f.pods["p"] = newPod("p", tt.first...) })
				for i, s := range tt.steps {
					f.change(func() {
						f.inspectErr["p"] = s.err
						if s.pod != nil {
							f.pods["p"] = newPod("p", s.pod...)
						}
						if s.pod != nil && len(s.pod) == 0 {
							delete(f.pods, "p")
						}
					})
					b.nextList()
					if d := cmp.Diff(s.want, b.told()); d != "" {
						t.Errorf("step %d: events (-want +got):\n%s", i, d)
					}
					if _, err := b.cache.Get("p"); !errors.Is(err, s.err) {
						t.Errorf("step %d: cache has error %v, want %v", i, err, s.err)
					}
					if got := b.answer("other", time.Minute); got != "o=running" {
						t.Errorf("step %d: the other pod: %s", i, got)
					}
				}
			})
		})
	}
}

func TestAddressesOutliveTheSandbox(t *testing.T) {
	t.Parallel()
	withIPs := func(sandbox string, ips ...string) func(f *fakeRuntime) {
		return func(f *fakeRuntime) {
			p := newPod("p", sandbox)
			p.IPs = ips
			f.pods["p"] = p
		}
	}
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime()
		b := start(t, f, Config{})
		for _, tt := range []struct {
			name string
			edit func(f *fakeRuntime)
			want []string
		}{
			{"a ready sandbox has its own", withIPs("sandbox:s=running", "10.0.0.1"), []string{"10.0.0.1"}},
			{"a dead one keeps them", withIPs("sandbox:s=exited"), []string{"10.0.0.1"}},
			{"a new one has none until it has", withIPs("sandbox:t=running"), nil},
			{"then its own", withIPs("sandbox:u=running", "10.0.0.2"), []string{"10.0.0.2"}},
		} {
			f.change(func() { tt.edit(f) })
			b.nextList()
			p, err := b.cache.Get("p")
			if d := cmp.Diff(tt.want, p.IPs); d != "" || err != nil {
				t.Errorf("%s (-want +got), %v:\n%s", tt.name, err, d)
			}
		}
	})
}

func TestHealthy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime()
		f.listErr = errors.New("no answer")
		b := start(t, f, Config{})
		check := func(when, want string) {
			t.Helper()
			err := b.Healthy()
			if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", when, err, want)
			}
		}
		check("before the first list", "yet to be listed")
		f.change(func() { f.listErr = nil })
		b.nextList()
		check("after it", "")
		f.change(func() { f.listErr = errors.New("no answer") })
		time.Sleep(3 * time.Minute)
		check("at the threshold", "")
		time.Sleep(time.Second)
		check("after the threshold", "last listed 3m1s ago")
		f.change(func() { f.listErr = nil })
		b.nextList()
		check("when it answers again", "")
	})
}

func TestFailuresDoNotFloodTheLog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", "a=running"))
		f.inspectErr["p"] = errors.New("broken")
		b := start(t, f, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		b.nextList()
		b.nextList()
		f.change(func() { f.listErr = errors.New("no answer") })
		for range 65 {
			b.nextList()
		}
		if n := strings.Count(log.String(), "inspection failed"); n != 1 {
			t.Errorf("a failing inspection was logged %d times, want 1", n)
		}
		if n := strings.Count(log.String(), "list failed"); n != 2 {
			t.Errorf("a list failing for 65 s was logged %d times, want 2", n)
		}
		again := func() int { return strings.Count(log.String(), "pods are listed again") }
		if again() != 0 {
			t.Error("it is logged to be over, and fails")
		}
		f.change(func() { f.listErr = nil })
		b.nextList()
		b.nextList()
		if n := again(); n != 1 {
			t.Errorf("that it is over was logged %d times, want 1", n)
		}
	})
}

func TestFullChannelDropsAndCounts(t *testing.T) {
	t.Parallel()
	var containers []string
	for i := range maxEvents + 7 {
		containers = append(containers, fmt.Sprintf("c%d=running", i))
	}
	var log bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p", containers...))
		b := start(t, f, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if n := b.Dropped(); n != 7 {
			t.Errorf("%d events were dropped, want 7", n)
		}
		if !strings.Contains(log.String(), "events dropped, the sync loop does not keep up\" total=7") {
			t.Errorf("the log does not tell of it: %s", log.String())
		}
		if n := len(b.told()); n != maxEvents {
			t.Errorf("%d events were delivered, want %d", n, maxEvents)
		}
		f.change(func() { f.pods["p"] = newPod("p", containers[:maxEvents+6]...) })
		b.nextList()
		wantTold(t, b, "ContainerDied p/c1006", "ContainerRemoved p/c1006")
	})
}

func TestPodWithoutContainersIsInspectedToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime(newPod("p"))
		b := start(t, f, Config{})
		if n := f.inspected("p"); n != 1 {
			t.Errorf("inspected %d times, want 1", n)
		}
		if got := b.answer("p", time.Minute); got != "" {
			t.Errorf("answered %q", got)
		}
	})
}

func TestManyPodsAreInspectedInParallelWithinBounds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeRuntime()
		gate := make(chan struct{})
		for i := range 20 {
			uid := types.UID(fmt.Sprintf("p%d", i))
			f.pods[uid] = newPod(uid, "a=running")
			f.inspectGate[uid] = gate
		}
		b := start(t, f, Config{MaxInspect: 3})
		time.Sleep(time.Second)
		close(gate)
		synctest.Wait()
		if f.most != 3 {
			t.Errorf("%d inspections at once, want 3", f.most)
		}
		if n := len(b.told()); n != 20 {
			t.Errorf("%d events, want 20", n)
		}
	})
}

// notes is an observer that records its calls, with times in whole milliseconds.
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

// take returns the lines since the last call.
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
		s.changes <- status.PodChange{UID: "p", Kind: status.ChangeVisible, At: happened}
		time.Sleep(7 * time.Millisecond)
		close(gate)
		time.Sleep(2 * time.Millisecond)
		want("after an event", "inspected 7", "lag 12")
		s.changes <- status.PodChange{UID: "p", Kind: status.ChangeVisible, At: happened.Add(-time.Hour)}
		b.settle()
		want("after an event from before", "inspected 0")
		s.changes <- status.PodChange{UID: "p", Kind: status.ChangeVisible, At: happened.Add(time.Hour)}
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
