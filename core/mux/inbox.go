package mux

import "sync"

// inbox collects answers until the goroutine of Run takes them. To add one does
// not block.
type inbox[T any] struct {
	// ready has a value while there are any.
	ready chan struct{}
	mu    sync.Mutex
	all   []answer[T]
}

// answer is what was said to the question with this ticket.
type answer[T any] struct {
	ticket uint64
	value  T
}

func newInbox[T any]() *inbox[T] { return &inbox[T]{ready: make(chan struct{}, 1)} }

func (b *inbox[T]) put(ticket uint64, value T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, answer[T]{ticket, value})
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

func (b *inbox[T]) take() []answer[T] {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.all
	b.all = nil
	return all
}
