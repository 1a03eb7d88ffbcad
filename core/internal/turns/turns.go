// Package turns limits how much of each owner's work runs at a time, so that one owner's
// work never waits for another's.
//
// Comes in: an owner, and a context. Goes out: a place for one piece of work, first come
// first served. Memory is kept for owners that have work. The package owns no goroutine;
// all methods are safe for concurrent use.
package turns

import (
	"context"
	"sync"
)

// Turns are the places of all owners. New makes them.
type Turns struct {
	atOnce int
	mu     sync.Mutex
	owners map[string]*ownerTurns
}

// ownerTurns has a place for each piece of an owner's work that may run; users counts
// what runs or waits.
type ownerTurns struct {
	places chan struct{}
	users  int
}

// New returns turns of which each owner has atOnce, which is positive.
func New(atOnce int) *Turns { return &Turns{atOnce: atOnce, owners: map[string]*ownerTurns{}} }

// Take waits for a place and returns the function that frees it; ok is false where ctx
// ended first.
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
