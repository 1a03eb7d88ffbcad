package probe

import (
	"context"
	"sync"
)

// atOnce is how many probes of one owner run at a time.
const atOnce = 64

// turns limit how many probes of each owner run at a time.
type turns struct {
	mu     sync.Mutex
	owners map[string]*ownerTurns
}

// ownerTurns has a place for each probe of an owner that may run; users are the probes that run or wait.
type ownerTurns struct {
	places chan struct{}
	users  int
}

// take waits for a place, and returns the function that gives it back; false where ctx ended first.
func (t *turns) take(ctx context.Context, owner string) (done func(), ok bool) {
	t.mu.Lock()
	o := t.owners[owner]
	if o == nil {
		o = &ownerTurns{places: make(chan struct{}, atOnce)}
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
