// Package turns limits how much of each owner's work runs at a time, so that the work of one owner
// never waits for that of another.
//
// Comes in: an owner, and a context. Goes out: a place for one piece of work, in the order of the
// requests. Memory is used only for owners with work. The package owns no goroutine; all methods
// are safe for concurrent use.
package turns

import (
	"context"
	"sync"
)

// Turns has the places of all owners. New creates it.
type Turns struct {
	atOnce int
	mu     sync.Mutex
	owners map[string]*ownerTurns
}

// ownerTurns has the places for an owner's work. users is the number of running and waiting pieces
// of work.
type ownerTurns struct {
	places chan struct{}
	users  int
}

// New returns Turns with atOnce places for each owner; atOnce must be positive.
func New(atOnce int) *Turns { return &Turns{atOnce: atOnce, owners: map[string]*ownerTurns{}} }

// Take waits for a place and returns the function that frees it. ok is false if ctx ended first.
func (t *Turns) Take(ctx context.Context, owner string) (done func(), ok bool) {
	t.mu.Lock()
	o := t.owners[owner]
	if o == nil {
		o = &ownerTurns{places: make(chan struct{}, t.atOnce)}
		t.owners[owner] = o
	}
	o.users++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if o.users--; o.users == 0 {
			delete(t.owners, owner)
		}
	}
	select {
	case o.places <- struct{}{}:
		return func() { <-o.places; leave() }, true
	case <-ctx.Done():
		leave()
		return nil, false
	}
}
