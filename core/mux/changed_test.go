package mux

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

func TestWhoIsToldOfChangesFindsThemWhenToldLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var m *Mux
		found := -1 // the number of pods at the last call of Changed
		m = New(Config{
			Sources: []Source{{Name: "one"}}, Documents: newDisk(), Logger: slog.New(slog.DiscardHandler), Now: time.Now,
			Changed: func() { found = len(m.Pods()) },
		})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		running.Go(func() { _ = m.Run(ctx) }) // Run returns when ctx ends
		sink := mustSink(t, m, "one")
		for _, step := range []struct {
			name string
			docs []api.Document
			want int
		}{
			{"two pods", docs(good("a#0", "web", "u1"), good("b#0", "db", "u2")), 2},
			{"one is gone", docs(good("a#0", "web", "u1")), 1},
			{"both are gone", nil, 0},
		} {
			if err := sink.Replace(t.Context(), step.docs); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if found != step.want {
				t.Errorf("%s: %d pods were found when told last, want %d", step.name, found, step.want)
			}
		}
	})
}
