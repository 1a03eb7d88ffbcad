package systemd

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// watched is the state of an agent that a watchdog checks.
type watched struct {
	mu                      sync.Mutex
	stuck, health, starting error
	// lost, if not nil, is the error with which messages are lost.
	lost     error
	messages []string
	log      strings.Builder
}

func (w *watched) set(change func(w *watched)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(w)
}

func (w *watched) get(which *error) func() error {
	return func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		return *which
	}
}

// Write implements io.Writer for the log.
func (w *watched) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(text)
}

// said returns the messages since its last call, without consecutive repeats.
func (w *watched) said() []string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	var kinds []string
	for _, m := range w.messages {
		if len(kinds) == 0 || kinds[len(kinds)-1] != m {
			kinds = append(kinds, m)
		}
	}
	w.messages = nil
	return kinds
}

func (w *watched) expect(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, w.said()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// watch runs a watchdog that must send a sign of life every minute.
func (w *watched) watch(t *testing.T) (stop func()) {
	t.Helper()
	_, stop = w.notifying(t)
	return stop
}

// notifying does the same as watch and also returns the notifier.
func (w *watched) notifying(t *testing.T) (n *Notifier, stop func()) {
	t.Helper()
	dog := &Watchdog{
		Notify: &Notifier{interval: time.Minute, deliver: func(message string) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.lost == nil {
				w.messages = append(w.messages, message)
			}
			return w.lost
		}},
		Stuck: w.get(&w.stuck), Health: []func() error{w.get(&w.health)}, Starting: w.get(&w.starting),
		Status: func() string { return "fine" }, Log: slog.New(slog.NewTextHandler(w, nil)),
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = dog.Run(ctx) })
	return dog.Notify, func() {
		cancel()
		running.Wait()
	}
}

func TestAStartSaysWhatItWaitsForAndIsNotCutShort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("container runtime at unix:///x does not answer")
		w := &watched{health: away, starting: away}
		stop := w.watch(t)
		w.expect(t, "STATUS=Starting: container runtime at unix:///x does not answer", "EXTEND_TIMEOUT_USEC=30000000")
		time.Sleep(time.Hour)
		w.expect(t, "EXTEND_TIMEOUT_USEC=30000000")
		w.set(func(w *watched) { w.health, w.starting = nil, errors.New("the agent takes over running pods") })
		time.Sleep(startLook)
		w.expect(t, "STATUS=Starting: the agent takes over running pods")
		w.set(func(w *watched) { w.starting = nil })
		time.Sleep(startLook)
		w.expect(t, "READY=1\nSTATUS=fine")
		stop()
		w.expect(t, "STOPPING=1\nSTATUS=Stopping: calls to the runtime finish, pods run on")
	})
}

func TestTheWatchdogGetsSignsInTimeWhileTheLoopMoves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{}
		stop := w.watch(t)
		defer stop()
		w.expect(t, "READY=1\nSTATUS=fine", "WATCHDOG=1")
		for range 10 {
			time.Sleep(time.Minute / 3)
			w.expect(t, "WATCHDOG=1")
		}
	})
}

func TestALoopThatHangsGetsNoSignOfLife(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{}
		stop := w.watch(t)
		defer stop()
		time.Sleep(time.Minute)
		w.said()
		w.set(func(w *watched) { w.stuck = errors.New("the loop has not moved") })
		time.Sleep(10 * time.Minute)
		w.expect(t)
		if n := strings.Count(w.log.String(), "the loop has not moved"); n != 1 {
			t.Errorf("logged %d times", n)
		}
		w.set(func(w *watched) { w.stuck = nil })
		time.Sleep(time.Minute)
		w.expect(t, "WATCHDOG=1")
	})
}

func TestARuntimeThatIsAwayIsNoReasonToEndTheAgent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{}
		stop := w.watch(t)
		defer stop()
		time.Sleep(time.Minute)
		w.said()
		// The loop waits for the runtime, so it does not move.
		w.set(func(w *watched) {
			w.health, w.stuck = errors.New("containerd is away"), errors.New("the loop has not moved")
		})
		time.Sleep(statusLook)
		w.expect(t, "STATUS=Pods run on, and nothing is changed: containerd is away")
		time.Sleep(24 * time.Hour)
		w.expect(t, "WATCHDOG=1")
		// The runtime returns, and the loop continues a moment later.
		w.set(func(w *watched) { w.health = nil })
		time.Sleep(5 * time.Second)
		w.set(func(w *watched) { w.stuck = nil })
		time.Sleep(time.Minute)
		w.expect(t, "STATUS=fine", "WATCHDOG=1")
		if got := w.log.String(); got != "" {
			t.Errorf("log: %s", got)
		}
		// A loop that does not continue after that is stuck.
		w.set(func(w *watched) { w.health = errors.New("containerd is away") })
		time.Sleep(time.Minute)
		w.set(func(w *watched) { w.health, w.stuck = nil, errors.New("the loop has not moved") })
		time.Sleep(catchUp + time.Minute)
		w.said()
		time.Sleep(time.Hour)
		w.expect(t)
	})
}

func TestTheEndOfAReloadIsToldUntilItArrives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{}
		n, stop := w.notifying(t)
		defer stop()
		synctest.Wait()
		if err := n.Reloading(); err != nil {
			t.Fatal(err)
		}
		w.set(func(w *watched) { w.lost = errors.New("resource temporarily unavailable") })
		if err := n.Reloaded(); err == nil {
			t.Fatal("no error")
		}
		time.Sleep(time.Minute)
		w.said()
		w.set(func(w *watched) { w.lost = nil })
		time.Sleep(statusLook)
		w.expect(t, "READY=1")
		time.Sleep(time.Minute)
		w.expect(t, "WATCHDOG=1")
		if n := strings.Count(w.log.String(), "resource temporarily unavailable"); n != 1 {
			t.Errorf("logged %d times", n)
		}
	})
}

func TestAReloadThatGoesOnIsNotEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{}
		n, stop := w.notifying(t)
		defer stop()
		synctest.Wait()
		w.said()
		if err := n.Reloading(); err != nil {
			t.Fatal(err)
		}
		w.said()
		time.Sleep(time.Minute)
		w.expect(t, "WATCHDOG=1")
		if err := n.Reloaded(); err != nil {
			t.Fatal(err)
		}
		w.expect(t, "READY=1")
	})
}

func TestWithoutAServiceManagerAWatchdogOnlyWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- (&Watchdog{}).Run(ctx) }()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}
