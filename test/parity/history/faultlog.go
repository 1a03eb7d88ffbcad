package history

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
)

// faultLog takes the mux's log and keeps the first error: nothing in these
// histories is a reason for one.
type faultLog struct {
	mu    sync.Mutex
	first error
}

func (*faultLog) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }

func (f *faultLog) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		text += " " + a.String()
		return true
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.first == nil {
		f.first = fmt.Errorf("the mux logged an error: %s", text)
	}
	return nil
}

func (f *faultLog) WithAttrs([]slog.Attr) slog.Handler { return f }
func (f *faultLog) WithGroup(string) slog.Handler      { return f }

func (f *faultLog) err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.first
}
