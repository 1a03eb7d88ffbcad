package mux

import (
	"context"
	"fmt"

	"github.com/wardlet/wardlet/core/api"
)

// delivery is one call of a source, on its way to the goroutine of Run.
type delivery struct {
	source   string
	snapshot bool
	docs     []api.Document
	gone     []string
	// taken gets one value when the delivery has been merged and sent. It has
	// room for it, so that Run never waits for a source that gave up.
	taken chan error
}

// Sink is the way in of one source.
type Sink struct {
	mux  *Mux
	name string
}

// Sink returns the way in of the named source. It fails for a name that is not
// configured.
func (m *Mux) Sink(name string) (*Sink, error) {
	if _, ok := m.store.sources[name]; !ok {
		return nil, fmt.Errorf("no source is named %q", name)
	}
	return &Sink{mux: m, name: name}, nil
}

// Replace hands over everything the source holds. An entry that is not named
// is gone, unless its file is held (api.HoldSuffix).
func (s *Sink) Replace(ctx context.Context, all []api.Document) error {
	return s.deliver(ctx, delivery{snapshot: true, docs: all})
}

// Apply hands over a difference. A manifest of which a document is named is
// named whole: its other entries are gone, unless it is held (api.HoldSuffix).
// What is gone is an ID, or the path of a manifest.
func (s *Sink) Apply(ctx context.Context, changed []api.Document, gone []string) error {
	return s.deliver(ctx, delivery{docs: changed, gone: gone})
}

// Health says how the last reading went.
func (s *Sink) Health(err error) {
	s.mux.mu.Lock()
	defer s.mux.mu.Unlock()
	src := s.mux.store.sources[s.name]
	src.health = err
	if err == nil {
		src.lastRead = s.mux.now()
	}
}

// Ignored takes what the source does not read of its directory, nil for nothing.
func (s *Sink) Ignored(what *api.Ignored) {
	s.mux.mu.Lock()
	defer s.mux.mu.Unlock()
	s.mux.store.sources[s.name].ignored = what
}

func (s *Sink) deliver(ctx context.Context, d delivery) error {
	d.source, d.taken = s.name, make(chan error, 1)
	select {
	case s.mux.deliveries <- d:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-d.taken:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
