package history

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/wardlet/wardlet/core/state"
)

// memory stores the mux's records as a disk does: as text.
type memory struct {
	mu      sync.Mutex
	records map[state.DocumentID][]byte
}

func newMemory() *memory { return &memory{records: map[state.DocumentID][]byte{}} }

func (m *memory) Apply(put []state.Record, remove []state.DocumentID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range put {
		r := &put[i]
		if r.Pod == nil {
			return errors.New("no pod to keep")
		}
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		m.records[state.DocumentID{Source: r.Source, ID: r.ID}] = text
	}
	for _, id := range remove {
		delete(m.records, id)
	}
	return nil
}

func (m *memory) LoadAll() (records []state.Record, errs []error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	order := slices.SortedFunc(maps.Keys(m.records), func(a, b state.DocumentID) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.ID, b.ID))
	})
	for _, id := range order {
		var r state.Record
		if err := json.Unmarshal(m.records[id], &r); err != nil {
			errs = append(errs, err)
			continue
		}
		records = append(records, r)
	}
	return records, errs
}

// faultLog receives the mux's log and keeps the first error. Nothing in these histories may cause
// an error.
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
