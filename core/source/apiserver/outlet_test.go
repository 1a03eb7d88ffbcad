package apiserver

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

// TestOutletOfASourceThatEnds checks that nothing reaches the sink after the context has ended.
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
