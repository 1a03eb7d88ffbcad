package simulation

import (
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux"
)

// reader delivers the documents of a source while an agent lives: all of them first,
// then either all of them or the changes.
type reader struct {
	*link
	source *source
	sink   *mux.Sink
	// has is what was delivered last, ID to version; whole is true once all documents were
	// delivered.
	has   map[string]string
	whole bool
}

// Run delivers until ctx ends.
func (r *reader) Run(ctx context.Context) error {
	w := r.world
	w.mu.Lock()
	delay := w.between("first reading of "+r.source.name, 0, 300*time.Millisecond)
	if w.draw("late reading of "+r.source.name)%4 == 0 {
		delay = w.between("first reading of "+r.source.name, time.Second, 20*time.Second)
	}
	w.mu.Unlock()
	for {
		if err := r.sleep(ctx, delay); err != nil {
			return err
		}
		if err := r.deliver(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-r.source.changed:
		}
		w.mu.Lock()
		delay = w.between("reading of "+r.source.name, 0, 150*time.Millisecond)
		w.mu.Unlock()
	}
}

// deliver delivers the current documents, unless the source is silent.
func (r *reader) deliver(ctx context.Context) error {
	w := r.world
	w.mu.Lock()
	if r.source.silent {
		w.mu.Unlock()
		return nil
	}
	var all, changed []api.Document
	has, pods := map[string]string{}, map[types.UID]bool{}
	for _, place := range slices.Sorted(maps.Keys(r.source.documents)) {
		d := r.source.documents[place]
		has[d.id], pods[d.pod.UID] = d.version, true
		doc := api.Document{Source: r.source.name, ID: d.id, Version: d.version, Pod: d.pod}
		all = append(all, doc)
		if r.has[d.id] != d.version {
			changed = append(changed, doc)
		}
	}
	whole := w.draw("whole "+r.source.name)%2 == 0
	early := !r.whole && w.draw("early "+r.source.name)%6 == 0
	if !r.whole {
		whole = !early
	}
	r.source.pods = nil // until the delivery is accepted
	w.note("source %s delivers %v, whole %t", r.source.name, has, whole)
	w.mu.Unlock()

	had := r.has
	r.has, r.whole = has, r.whole || whole
	if early {
		r.source.poke() // a difference comes first, and does not show which other documents exist
	}
	if whole {
		return r.took(r.sink.Replace(ctx, all), has, nil, pods)
	}
	var gone []string
	for _, id := range slices.Sorted(maps.Keys(had)) {
		if _, ok := has[id]; !ok {
			gone = append(gone, id)
		}
	}
	if gone == nil {
		gone = []string{}
	}
	return r.took(r.sink.Apply(ctx, changed, gone), has, gone, pods)
}

// took records an accepted delivery: the documents in has exist, those in gone do not. If gone is
// nil, no other documents exist. pods are the pods of these documents.
func (r *reader) took(err error, has map[string]string, gone []string, pods map[types.UID]bool) error {
	w := r.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil || r.dead {
		return err
	}
	if r.whole {
		r.source.pods = pods
	}
	if gone == nil {
		clear(r.source.told)
	}
	for _, id := range gone {
		delete(r.source.told, id)
	}
	for id := range has {
		r.source.told[id] = true
	}
	return nil
}
