package history

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux"
)

// wardlet is one of our muxes with its sources. Both wardlet and its disk survive restarts of the
// agent.
type wardlet struct {
	// wholeOnly: the sources never deliver a difference.
	wholeOnly bool
	disk      *memory
	now       func() time.Time

	mux    *mux.Mux
	sinks  map[string]*mux.Sink
	cancel context.CancelFunc
	ended  chan error
	faults faultLog
	stream *stream
	// read are the sources that have delivered their full content.
	read map[string]bool
	// has is the last delivery of each source, ID to version. It survives a restart, so that a
	// difference that comes first names the removed documents.
	has map[string]map[string]string
}

func newWardlet(wholeOnly bool, now func() time.Time) *wardlet {
	w := &wardlet{wholeOnly: wholeOnly, disk: newMemory(), now: now, stream: newStream(), has: map[string]map[string]string{}}
	for _, s := range sources {
		w.has[s] = map[string]string{}
	}
	return w
}

// start starts the agent and returns the updates before any source delivers.
func (w *wardlet) start() ([]api.Update, error) {
	var configured []mux.Source
	for _, s := range sources {
		configured = append(configured, mux.Source{Name: s, Kind: s})
	}
	w.mux = mux.New(mux.Config{
		Sources: configured, Documents: w.disk, Logger: slog.New(&w.faults), Now: w.now,
	})
	w.sinks, w.read = map[string]*mux.Sink{}, map[string]bool{}
	for _, s := range sources {
		sink, err := w.mux.Sink(s)
		if err != nil {
			return nil, err
		}
		w.sinks[s] = sink
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel, w.ended = cancel, make(chan error, 1)
	go func(m *mux.Mux) { w.ended <- m.Run(ctx) }(w.mux)
	// An empty difference changes nothing and is handled after the restored pods.
	err := w.sinks[file].Apply(ctx, nil, nil)
	return w.updates(), err
}

// stop stops the agent; the error is an unexpected result or a logged error of the mux.
func (w *wardlet) stop() error {
	if w.cancel == nil {
		return nil
	}
	w.cancel()
	if err := <-w.ended; !errors.Is(err, context.Canceled) {
		return fmt.Errorf("the mux ended: %w", err)
	}
	return w.faults.err()
}

// restart stops the agent, starts it again and checks what it restores.
func (w *wardlet) restart(docs ledger) ([]api.Update, error) {
	if err := w.stop(); err != nil {
		return nil, err
	}
	updates, err := w.start()
	if err != nil {
		return nil, err
	}
	return updates, w.stream.restart(updates, docs, w.now())
}

// step delivers a step and follows the updates of the mux. docs is the content of all sources after
// the step. The error is the first failed check of Wardlet's own rules.
func (w *wardlet) step(s *step, docs ledger) ([]api.Update, said, error) {
	var wrong first
	updates, err := w.deliver(s)
	wrong.set(err)
	out, seen, err := w.stream.take(updates, docs, w.now())
	wrong.set(err)
	wrong.set(w.reads(s, seen))
	return updates, out, wrong.err
}

// reads checks that a source counts as read from its first full delivery on.
func (w *wardlet) reads(s *step, seen []string) error {
	var want []string
	if w.whole(s) && !w.read[s.source] {
		want = []string{s.source}
		w.read[s.source] = true
	}
	if !slices.Equal(seen, want) {
		return fmt.Errorf("sources seen for the first time: %v, want %v", seen, want)
	}
	for _, name := range sources {
		if w.mux.Seen(name) != w.read[name] {
			return fmt.Errorf("source %s is seen: %t", name, w.mux.Seen(name))
		}
	}
	return nil
}

// whole reports whether a step delivers the full content.
func (w *wardlet) whole(s *step) bool { return w.wholeOnly || !s.difference }

// deliver hands over the content of a step's source and returns the updates that follow.
func (w *wardlet) deliver(s *step) ([]api.Update, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	had, has := w.has[s.source], map[string]string{}
	var all, changed []api.Document
	for i := range s.documents {
		d := &s.documents[i]
		has[d.id] = d.version
		all = append(all, d.forMux(s.source))
		if had[d.id] != d.version || s.repeat || !w.mux.Seen(s.source) {
			changed = append(changed, d.forMux(s.source))
		}
	}
	var gone []string
	for id := range had {
		if _, ok := has[id]; !ok {
			gone = append(gone, id)
		}
	}
	slices.Sort(gone)
	if s.repeat {
		slices.Reverse(gone)
	}
	w.has[s.source] = has
	var err error
	if w.whole(s) {
		err = w.sinks[s.source].Replace(ctx, all)
	} else {
		err = w.sinks[s.source].Apply(ctx, changed, gone)
	}
	return w.updates(), err
}

// updates returns the updates that the mux has sent. All updates of a delivery are sent when the
// delivery returns.
func (w *wardlet) updates() (updates []api.Update) {
	for {
		select {
		case u := <-w.mux.Updates():
			updates = append(updates, u)
		default:
			return updates
		}
	}
}
