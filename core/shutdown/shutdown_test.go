package shutdown

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/internal/backoff"
	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/test/fakelogind"
)

// guarded is a log that can be read while it is written.
type guarded struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (g *guarded) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text.Write(p)
}

func (g *guarded) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text.String()
}

// running is a Manager that runs on a fake logind.
type running struct {
	*Manager
	logind *fakelogind.Logind
	pods   *fakePods
	times  *memory
	log    *guarded
	dropIn string
	// events has the events about the node, and changes a value for each call of Changed.
	events  chan string
	changes chan bool
	stop    func()
}

// start runs a Manager with one period. before changes the fixture before Run.
func start(t *testing.T, period time.Duration, before func(r *running)) *running {
	t.Helper()
	r := &running{logind: fakelogind.Start(t), pods: newPods(), log: &guarded{}, events: make(chan string, 100), changes: make(chan bool, 100)}
	r.dropIn = filepath.Join(t.TempDir(), "logind.conf.d", "99-wardlet.conf")
	r.Manager, r.times = newManager(r.pods, Period{Period: period})
	c := &r.cfg
	c.DropIn, c.Log = r.dropIn, slog.New(slog.NewTextHandler(r.log, nil))
	c.Connect = func(ctx context.Context) (Logind, error) { return Connect(ctx, r.logind.Address()) }
	c.Record = func(message string) { r.events <- message }
	c.Changed = func() { r.changes <- r.ShuttingDown() }
	r.reconnects = backoff.Exponential{Min: time.Millisecond, Max: 10 * time.Millisecond}
	r.reloads = r.reconnects
	if before != nil {
		before(r)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() { r.Run(ctx) })
	r.stop = sync.OnceFunc(func() { cancel(); ended.Wait() })
	t.Cleanup(r.stop)
	return r
}

func next[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(30 * time.Second):
		t.Fatalf("no %s", what)
		var none T
		return none
	}
}

func TestRun_terminatesPodsBeforeAShutdown(t *testing.T) {
	t.Parallel()
	r := start(t, 3*sec, nil)
	r.pods.add("web", 0, 1, &fakePod{stops: time.Millisecond, phase: v1.PodRunning})
	lock := next(t, "lock", r.logind.Inhibits)
	if lock.What != "shutdown" || lock.Mode != "delay" || lock.Who == "" || lock.Why == "" {
		t.Errorf("arguments of the lock: %+v", lock)
	}
	if !lock.Held() || r.ShuttingDown() || r.Healthy() != nil {
		t.Error("before a shutdown")
	}
	r.logind.Prepare(true)
	if !next(t, "change", r.changes) {
		t.Error("the change reports that no shutdown is under way")
	}
	if got := next(t, "event", r.events); got != "Shutdown manager detected shutdown event" {
		t.Errorf("event %q", got)
	}
	lock.Released(t)
	if st := r.pods.status("web"); st.Phase != v1.PodFailed || st.Reason != "Terminated" {
		t.Errorf("when the lock is released, the pod has the status %v", st)
	}
	if err := r.Healthy(); err == nil || err.Error() != "node is shutting down" || !r.ShuttingDown() {
		t.Errorf("condition %v", err)
	}
	r.stop()
	if n := len(r.times.all); n != 2 || r.times.last.Ended.IsZero() {
		t.Errorf("times %v", r.times.all)
	}
}

func TestRun_takesTheLockAgainAfterACancelledShutdown(t *testing.T) {
	t.Parallel()
	r := start(t, 3*sec, nil)
	first := next(t, "lock", r.logind.Inhibits)
	r.pods.add("web", 0, 60, &fakePod{stops: time.Hour})
	r.logind.Prepare(true)
	next(t, "event", r.events)
	r.logind.Prepare(false)
	if got := next(t, "event", r.events); got != "Shutdown manager detected shutdown cancellation" {
		t.Errorf("event %q", got)
	}
	second := next(t, "second lock", r.logind.Inhibits)
	first.Released(t)
	if !second.Held() || r.ShuttingDown() {
		t.Error("after the cancelled shutdown there is no lock, or it is still under way")
	}
	r.logind.Prepare(true)
	next(t, "event", r.events)
	r.stop()
	second.Released(t)
}

func TestRun_reconnects(t *testing.T) {
	t.Parallel()
	r := start(t, 3*sec, nil)
	next(t, "lock", r.logind.Inhibits)
	r.logind.Stop()
	if err := r.logind.Listen(); err != nil {
		t.Fatal(err)
	}
	lock := next(t, "lock after the loss", r.logind.Inhibits)
	r.logind.Prepare(true)
	next(t, "event", r.events)
	lock.Released(t)
	r.stop()
	if n := strings.Count(r.log.String(), errLost.Error()); n != 1 {
		t.Errorf("the loss was logged %d times:\n%s", n, r.log)
	}
}

// A shutdown that was cancelled while there was no connection is over.
func TestRun_learnsOfWhatHappenedDuringALoss(t *testing.T) {
	t.Parallel()
	r := start(t, 3*sec, nil)
	first := next(t, "lock", r.logind.Inhibits)
	r.logind.Prepare(true)
	next(t, "event", r.events)
	first.Released(t)
	r.logind.Stop()
	r.logind.Set(func() { r.logind.Down = false })
	if err := r.logind.Listen(); err != nil {
		t.Fatal(err)
	}
	next(t, "lock", r.logind.Inhibits)
	if got := next(t, "event", r.events); got != "Shutdown manager detected shutdown cancellation" {
		t.Errorf("event %q", got)
	}
}

func TestRun_startsDuringAShutdown(t *testing.T) {
	t.Parallel()
	r := start(t, 3*sec, func(r *running) {
		r.logind.Down, r.logind.Refuse = true, "org.freedesktop.login1.OperationInProgress"
	})
	next(t, "event", r.events)
	if !r.ShuttingDown() || len(r.logind.Inhibits) != 0 {
		t.Error("the shutdown that is under way is not followed")
	}
}

// Every user of the machine can send a signal to the agent.
func TestRun_ignoresSignalsOfOthers(t *testing.T) {
	t.Parallel()
	r := start(t, 3*sec, nil)
	lock := next(t, "lock", r.logind.Inhibits)
	r.logind.Signal(":1.66", true)
	r.logind.Signal(fakelogind.Owner)
	r.logind.Signal(fakelogind.Owner, "true")
	r.logind.Prepare(true) // after those
	next(t, "event", r.events)
	lock.Released(t)
	if len(r.changes) != 1 || len(r.events) != 0 {
		t.Errorf("%d changes and %d more events", len(r.changes), len(r.events))
	}
}

func TestRun_limitOfDelays(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		period time.Duration
		before func(t *testing.T, r *running)
		// file is the limit in the drop-in file, empty for no file. warning is a part of the log.
		file, warning string
	}{
		"sufficient": {5 * sec, nil, "", ""},
		"too low": {90 * sec, func(_ *testing.T, r *running) {
			r.logind.DropIn = r.dropIn
		}, "InhibitDelayMaxSec=90\n", ""},
		"without end": {90 * sec, func(_ *testing.T, r *running) {
			r.logind.Limit = 1<<64 - 1
		}, "", ""},
		"another file comes after the agent's": {90 * sec, func(t *testing.T, r *running) {
			t.Helper()
			r.logind.DropIn = filepath.Join(t.TempDir(), "other.conf")
			if err := os.WriteFile(r.logind.DropIn, []byte("InhibitDelayMaxSec=6\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "InhibitDelayMaxSec=90\n", "delays a shutdown for less time than configured"},
		"the file cannot be written": {90 * sec, func(t *testing.T, r *running) {
			t.Helper()
			if err := os.WriteFile(filepath.Dir(r.dropIn), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "", "set InhibitDelayMaxSec in [Login]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, test.period, func(r *running) {
				if test.before != nil {
					test.before(t, r)
				}
			})
			next(t, "lock", r.logind.Inhibits)
			r.stop()
			text, _ := os.ReadFile(r.dropIn)
			if !strings.HasSuffix(string(text), test.file) || test.file == "" && len(text) > 0 {
				t.Errorf("file %q, want %q", text, test.file)
			}
			if got := r.log.String(); !strings.Contains(got, test.warning) || test.warning == "" && strings.Contains(got, "WARN") {
				t.Errorf("log, want %q:\n%s", test.warning, got)
			}
		})
	}
}

func TestRun_noDBus(t *testing.T) {
	t.Parallel()
	tried := make(chan struct{}, 1000)
	r := start(t, sec, func(r *running) {
		connect := r.cfg.Connect
		r.logind.Stop()
		r.times.last = state.Shutdown{Began: time.Unix(7, 0)}
		r.cfg.Connect = func(ctx context.Context) (Logind, error) {
			tried <- struct{}{}
			return connect(ctx)
		}
	})
	for range 4 {
		next(t, "attempt", tried)
	}
	r.stop()
	const remedy = "start dbus and systemd-logind, or leave these keys out"
	if log := r.log.String(); strings.Count(log, remedy) != 1 {
		t.Errorf("log:\n%s", log)
	}
}
