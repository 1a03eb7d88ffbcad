package apiserver

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

// TestOutletOfASourceThatEnds: what still comes in then reaches no sink.
func TestOutletOfASourceThatEnds(t *testing.T) {
	t.Parallel()
	k := &sink{t: t, holds: map[string]string{}}
	o := &outlet{sink: k, log: slog.New(slog.DiscardHandler), now: time.Now}
	ctx, cancel := context.WithCancel(t.Context())
	o.begin(ctx, cancel)
	cancel()
	err := errors.Join(o.replace([]api.Document{{ID: "a/b", Err: &api.DocumentError{}}}), o.apply(nil, []string{"a/b"}))
	o.good()
	o.bad(errors.New("late"))
	if err != nil || len(k.all()) > 0 || k.lastHealth() != "" {
		t.Errorf("%v; delivered %q, health %q", err, k.all(), k.lastHealth())
	}
}

// TestCloseWaits: a client that is closed waits for the calls under way and
// takes no more.
func TestCloseWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &client{transport: &transport{}}
		if err := c.begin(); err != nil {
			t.Fatal(err)
		}
		closed := false
		go func() {
			c.close()
			closed = true
		}()
		synctest.Wait()
		if closed {
			t.Error("closed before the call had ended")
		}
		if err := c.begin(); err == nil {
			t.Error("a call begins after the client was closed")
		}
		c.calls.Done()
		synctest.Wait()
		if !closed {
			t.Error("not closed after the call has ended")
		}
	})
}
