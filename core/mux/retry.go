package mux

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// retries are the waits that are held, or held back, until a time, the next one
// first.
type retries []*wait

// set puts a wait in its place, or takes it out if it is not held until any
// time.
func (r *retries) set(w *wait) {
	held := w.retry > 0
	switch {
	case w.retryAt.IsZero() && held:
		heap.Remove(r, w.retry-1)
	case !w.retryAt.IsZero() && held:
		heap.Fix(r, w.retry-1)
	case !w.retryAt.IsZero():
		heap.Push(r, w)
	}
}

// next is when the first of them is due; false if there is none.
func (r *retries) next() (time.Time, bool) {
	if len(*r) == 0 {
		return time.Time{}, false
	}
	return (*r)[0].retryAt, true
}

// Len implements heap.Interface.
func (r *retries) Len() int { return len(*r) }

// Less implements heap.Interface.
func (r *retries) Less(i, j int) bool { return (*r)[i].retryAt.Before((*r)[j].retryAt) }

// Swap implements heap.Interface. Waits know their place, counted from 1.
func (r *retries) Swap(i, j int) {
	(*r)[i], (*r)[j] = (*r)[j], (*r)[i]
	(*r)[i].retry, (*r)[j].retry = i+1, j+1
}

// Push implements heap.Interface.
func (r *retries) Push(x any) {
	w, _ := x.(*wait)
	*r = append(*r, w)
	w.retry = len(*r)
}

// Pop implements heap.Interface.
func (r *retries) Pop() any {
	last := len(*r) - 1
	w := (*r)[last]
	(*r)[last], *r, w.retry = nil, (*r)[:last], 0
	return w
}

// dueWaits takes out what is due, in the order it began to wait.
func (m *Mux) dueWaits() []*wait {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, now := m.store, m.now()
	var due []*wait
	for {
		at, ok := s.retries.next()
		if !ok || at.After(now) {
			break
		}
		w := s.retries[0]
		w.retryAt = time.Time{}
		s.retries.set(w)
		due = append(due, w)
	}
	slices.SortFunc(due, func(a, b *wait) int { return cmp.Compare(a.seq, b.seq) })
	return due
}

// overdue are those of these waits that a filter may not hold back any longer.
func (s *store) overdue(due []*wait, now time.Time) []*wait {
	var over []*wait
	for _, w := range due {
		if s := w.suppressed(); s != nil && s.over(now) {
			over = append(over, w)
		}
	}
	return over
}

// nextRetry is how long until something held is due; false if nothing is.
func (m *Mux) nextRetry() (time.Duration, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	at, ok := m.store.retries.next()
	return max(at.Sub(m.now()), 0), ok
}
