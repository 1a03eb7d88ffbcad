package syncloop

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/worker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counted is a log handler that counts one message.
type counted struct {
	slog.Handler
	message string
	n       atomic.Int32
}

func (c *counted) Enabled(context.Context, slog.Level) bool { return true }

func (c *counted) Handle(_ context.Context, r slog.Record) error {
	if r.Message == c.message {
		c.n.Add(1)
	}
	return nil
}

// logging returns a world, and the count of one message in the log of its loop.
func logging(message string) (*world, *counted) {
	w, c := newWorld("file"), &counted{Handler: slog.DiscardHandler, message: message}
	w.loop.cfg.Log = slog.New(c)
	return w, c
}

func (c *counted) expect(t *testing.T, when string, least, most int32) {
	t.Helper()
	synctest.Wait()
	if n := c.n.Swap(0); n < least || n > most {
		t.Errorf("%s %q is logged %d times, want %d to %d", when, c.message, n, least, most)
	}
}

func TestARuntimeThatIsAwayIsLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, log := logging("pods are not synced until the runtime works")
		w.run(t, func() {
			synctest.Wait()
			w.set(func() { w.healthErr = errBroken })
			time.Sleep(3 * time.Second)
			log.expect(t, "at once", 1, 1)
			time.Sleep(10 * time.Minute)
			log.expect(t, "in ten minutes", 9, 10)
			w.set(func() { w.healthErr = errors.New("not ready") })
			time.Sleep(10 * time.Second)
			log.expect(t, "as another one", 1, 1)
			w.set(func() { w.healthErr = nil })
			time.Sleep(10 * time.Second)
			w.set(func() { w.healthErr = errBroken })
			time.Sleep(10 * time.Second)
			log.expect(t, "when it comes back", 1, 1)
		})
	})
}

func TestAwaitHealth_warnsOfAStartOnlyWhenItTakesLong(t *testing.T) {
	t.Parallel()
	const waiting, warning = "waiting for the runtime", "pods are not synced until the runtime works"
	for name, test := range map[string]struct {
		well         time.Duration
		message      string
		least, most  int32
		whatIsLogged string
	}{
		"a runtime that has not been asked yet warns of nothing": {2 * time.Second, warning, 0, 0, "in a start of 2 s"},
		"but it is waited for visibly":                           {2 * time.Second, waiting, 2, 2, "in a start of 2 s"},
		"a runtime that stays away does":                         {time.Minute, warning, 1, 1, "in a start of a minute"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w, log := logging(test.message)
				w.healthErr = errors.New("has not been asked yet")
				w.run(t, func() {
					time.Sleep(time.Second)
					w.set(func() { w.healthErr = errors.New("has yet to be listed successfully") })
					time.Sleep(test.well - time.Second)
					w.set(func() { w.healthErr = nil })
					time.Sleep(time.Minute)
					log.expect(t, test.whatIsLogged, test.least, test.most)
				})
			})
		})
	}
}

func TestAwaitHealth_warnsAtOnceOfARuntimeThatWorkedBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, log := logging("pods are not synced until the runtime works")
		w.run(t, func() {
			synctest.Wait()
			w.set(func() { w.healthErr = errBroken })
			time.Sleep(3 * time.Second)
			log.expect(t, "soon after a start that has ended", 1, 1)
		})
	})
}

func TestThatTheRuntimeIsBackIsLoggedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, log := logging("pods are synced again")
		w.run(t, func() {
			time.Sleep(time.Minute)
			log.expect(t, "where it was never away", 0, 0)
			w.set(func() { w.healthErr = errBroken })
			time.Sleep(time.Minute)
			log.expect(t, "while it is away", 0, 0)
			w.set(func() { w.healthErr = nil })
			time.Sleep(time.Minute)
			log.expect(t, "when it is back", 1, 1)
		})
	})
}

func TestThatPodsOfNobodyCannotBeListedIsLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]struct{ first, least, most, after int32 }{
		"orphaned pods stay until the runtime can be listed": {1, 9, 10, 0},
		"the runtime can be listed again":                    {0, 0, 0, 1},
	} {
		t.Run(message, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w, log := logging(message)
				w.seen["file"] = true
				w.strays = []worker.Orphan{stray("1", "file")}
				w.relistErr = errBroken
				w.run(t, func() {
					w.updates <- api.Update{Seen: []string{"file"}}
					untilHousekeeping()
					log.expect(t, "at once", want.first, want.first)
					time.Sleep(10 * time.Minute)
					log.expect(t, "in ten minutes", want.least, want.most)
					w.set(func() { w.relistErr = nil })
					untilHousekeeping()
					log.expect(t, "when it is over", want.after, want.after)
				})
			})
		})
	}
}

func TestTheLoopsTimesAreThoseOfTheClockThatWasGiven(t *testing.T) {
	t.Parallel()
	preempting(t, func(w *world, _, _ *v1.Pod) {
		w.set(func() { w.stopped = time.Now() })
		time.Sleep(time.Hour)
		synctest.Wait()
		w.expect(t) // no time has passed on the loop's clock
		if err := w.loop.Healthy(); err != nil {
			t.Error(err)
		}
		w.set(func() { w.stopped = w.stopped.Add(time.Hour) })
		if err := w.loop.Healthy(); err == nil {
			t.Error("it is healthy although its last step is an hour ago")
		}
		time.Sleep(2 * time.Second)
		w.expect(t, "create 2")
	})
}
