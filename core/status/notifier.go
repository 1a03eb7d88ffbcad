package status

import (
	"sync"
	"sync/atomic"
)

// Notifier tells listeners that something has changed since they last looked.
// What it was they look up themselves: nothing is queued, so a listener that is
// slow costs nothing. The zero value is ready, and safe for concurrent use.
type Notifier struct {
	// count is how many listeners there are, so that Notify costs next to nothing
	// where there are none.
	count atomic.Int32

	mu        sync.Mutex
	listeners map[chan struct{}]struct{}
}

// Notify tells all listeners. It does not block.
func (n *Notifier) Notify() {
	if n.count.Load() == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for listener := range n.listeners {
		select {
		case listener <- struct{}{}:
		default: // the one that waits says it too
		}
	}
}

// Listen gives a channel that has a value once something has changed after the
// call, and after the last value was taken. It is never closed; stop ends it.
func (n *Notifier) Listen() (changed <-chan struct{}, stop func()) {
	listener := make(chan struct{}, 1)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners == nil {
		n.listeners = map[chan struct{}]struct{}{}
	}
	n.listeners[listener] = struct{}{}
	n.count.Add(1)
	return listener, sync.OnceFunc(func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.listeners, listener)
		n.count.Add(-1)
	})
}
