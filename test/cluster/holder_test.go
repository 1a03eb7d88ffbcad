//go:build e2e

package cluster

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wardlet/wardlet/core/api"
)

// holder is a sink that stores what is delivered, as the mux does.
type holder struct {
	t    *testing.T
	busy atomic.Bool

	mu   sync.Mutex
	docs map[string]api.Document
	// gate blocks deliveries until it is closed.
	gate   chan struct{}
	log    []string
	health string
}

func newHolder(t *testing.T) *holder {
	t.Helper()
	h := &holder{t: t, docs: map[string]api.Document{}, gate: make(chan struct{}), health: "nothing was said yet"}
	close(h.gate)
	return h
}

func (h *holder) enter(ctx context.Context) (leave func(), err error) {
	if !h.busy.CompareAndSwap(false, true) {
		h.t.Error("two goroutines call the sink at once")
	}
	h.mu.Lock()
	gate := h.gate
	h.mu.Unlock()
	select {
	case <-gate:
	case <-ctx.Done():
		h.busy.Store(false)
		return nil, ctx.Err()
	}
	h.mu.Lock()
	return func() { h.mu.Unlock(); h.busy.Store(false) }, nil
}

func (h *holder) Replace(ctx context.Context, all []api.Document) error {
	leave, err := h.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	clear(h.docs)
	for _, d := range all {
		h.docs[d.ID] = d
	}
	h.log = append(h.log, fmt.Sprintf("= %d", len(all)))
	return nil
}

func (h *holder) Apply(ctx context.Context, changed []api.Document, gone []string) error {
	leave, err := h.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	for _, d := range changed {
		h.docs[d.ID] = d
		h.log = append(h.log, "+ "+d.ID)
	}
	for _, id := range gone {
		delete(h.docs, id)
		h.log = append(h.log, "- "+id)
	}
	return nil
}

func (h *holder) Health(err error) {
	if !h.busy.CompareAndSwap(false, true) {
		h.t.Error("two goroutines call the sink at once")
	}
	defer h.busy.Store(false)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.health = fmt.Sprint(err)
}

// block blocks all deliveries until release is called.
func (h *holder) block() (release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	gate := make(chan struct{})
	h.gate = gate
	return func() { close(gate) }
}

func (h *holder) lastHealth() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.health
}

// deliveries returns all deliveries so far, one line each.
func (h *holder) deliveries() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.log)
}

// snapshots returns how many of the deliveries are snapshots.
func (h *holder) snapshots() (n int) {
	for _, d := range h.deliveries() {
		if d[0] == '=' {
			n++
		}
	}
	return n
}

// document returns one document.
func (h *holder) document(id string) (api.Document, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d, ok := h.docs[id]
	return d, ok
}

// versions returns the versions of the stored documents, by ID.
func (h *holder) versions() map[string]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := map[string]string{}
	for id, d := range h.docs {
		all[id] = d.Version
	}
	return all
}
