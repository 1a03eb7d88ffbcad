package pending

import (
	"cmp"
	"container/heap"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/backoff"
)

// verdictDelays are the delays before a held version is judged again, unless the verdict has a
// RetryAfter.
var verdictDelays = backoff.Exponential{Min: 10 * time.Second, Max: 5 * time.Minute}

// The RetryAfter of a verdict is limited to the range from minNamedRetry to maxNamedRetry.
const (
	minNamedRetry = time.Second
	maxNamedRetry = 10 * time.Minute
)

// Queue is a set of items that wait. The zero value is an empty queue.
type Queue[T any] struct {
	items map[*Item[T]]bool
	// asked are the items with a question under way, by ticket. tickets is the last ticket that was
	// issued.
	asked   map[uint64]*Item[T]
	tickets uint64
	due     dueHeap[T]
	begun   uint64
}

// Item is an item that waits.
type Item[T any] struct {
	Value T
	// seq numbers the items in the order in which they began to wait. ticket is the question under
	// way, 0 for none. askedAt is the time when the newest question was asked.
	seq, ticket uint64
	askedAt     time.Time
	// dueAt is the time when the item is due, zero for never. place is the position in the heap of
	// due items, counted from 1; 0 if the item is not in it.
	dueAt time.Time
	place int
	// holds is the number of verdicts that have held the item.
	holds int
}

// Add adds an item to the queue and returns it.
func (q *Queue[T]) Add(value T) *Item[T] {
	if q.items == nil {
		q.items, q.asked = map[*Item[T]]bool{}, map[uint64]*Item[T]{}
	}
	q.begun++
	it := &Item[T]{Value: value, seq: q.begun}
	q.items[it] = true
	return it
}

// Remove removes an item. An answer to its question is ignored from then on.
func (q *Queue[T]) Remove(it *Item[T]) {
	q.SetDue(it, time.Time{})
	delete(q.items, it)
	delete(q.asked, it.ticket)
}

// Len returns the number of items.
func (q *Queue[T]) Len() int { return len(q.items) }

// All returns the items in the order in which they began to wait.
func (q *Queue[T]) All() []T {
	items := make([]*Item[T], 0, len(q.items))
	for it := range q.items {
		items = append(items, it)
	}
	return inOrder(items)
}

func inOrder[T any](items []*Item[T]) []T {
	slices.SortFunc(items, func(a, b *Item[T]) int { return cmp.Compare(a.seq, b.seq) })
	values := make([]T, len(items))
	for i, it := range items {
		values[i] = it.Value
	}
	return values
}

// Ask returns the ticket of a new question about an item. An answer to an earlier question is
// ignored from then on.
func (q *Queue[T]) Ask(it *Item[T], now time.Time) (ticket uint64) {
	delete(q.asked, it.ticket)
	q.tickets++
	it.ticket, it.askedAt = q.tickets, now
	q.asked[it.ticket] = it
	return it.ticket
}

// Defer records the time at which a question about an item would have been asked if the input that
// it depends on were known.
func (it *Item[T]) Defer(now time.Time) { it.askedAt = now }

// Asked reports whether a question about the item is under way, and the time when it was asked or,
// after Defer, would have been asked.
func (it *Item[T]) Asked() (bool, time.Time) { return it.ticket != 0, it.askedAt }

// Of returns the value of the item whose question has this ticket; ok is false if there is none.
func (q *Queue[T]) Of(ticket uint64) (value T, ok bool) {
	it := q.asked[ticket]
	if it == nil {
		return value, false
	}
	return it.Value, true
}

// Answered records the verdict for an item. A held item is due after the verdict's RetryAfter, else
// after a delay that doubles each time. jitter stretches the delay.
func (q *Queue[T]) Answered(it *Item[T], v *api.Verdict, now time.Time, jitter func(time.Duration) time.Duration) {
	delete(q.asked, it.ticket)
	it.ticket = 0
	if v.Answer != api.Hold {
		q.SetDue(it, time.Time{})
		return
	}
	delay := verdictDelays.Delay(it.holds)
	if v.RetryAfter > 0 {
		delay = min(max(v.RetryAfter, minNamedRetry), maxNamedRetry)
	}
	it.holds++
	q.SetDue(it, now.Add(jitter(delay)))
}

// DueAt returns the time when the item is due, zero for never.
func (it *Item[T]) DueAt() time.Time { return it.dueAt }

// SetDue sets the time when an item is due, zero for never.
func (q *Queue[T]) SetDue(it *Item[T], at time.Time) {
	it.dueAt = at
	switch placed := it.place > 0; {
	case at.IsZero() && placed:
		heap.Remove(&q.due, it.place-1)
	case !at.IsZero() && placed:
		heap.Fix(&q.due, it.place-1)
	case !at.IsZero():
		heap.Push(&q.due, it)
	}
}

// NextDue returns the time when the first item is due; false if none is.
func (q *Queue[T]) NextDue() (time.Time, bool) {
	if len(q.due) == 0 {
		return time.Time{}, false
	}
	return q.due[0].dueAt, true
}

// TakeDue returns the items that are due, in the order in which they began to wait, and clears
// their due times.
func (q *Queue[T]) TakeDue(now time.Time) []T {
	var items []*Item[T]
	for len(q.due) > 0 && !q.due[0].dueAt.After(now) {
		it := q.due[0]
		q.SetDue(it, time.Time{})
		items = append(items, it)
	}
	return inOrder(items)
}

// dueHeap has the items with a due time, the earliest first.
type dueHeap[T any] []*Item[T]

// Len implements heap.Interface.
func (h *dueHeap[T]) Len() int { return len(*h) }

// Less implements heap.Interface.
func (h *dueHeap[T]) Less(i, j int) bool { return (*h)[i].dueAt.Before((*h)[j].dueAt) }

// Swap implements heap.Interface. It updates the place of both items, counted from 1.
func (h *dueHeap[T]) Swap(i, j int) {
	(*h)[i], (*h)[j] = (*h)[j], (*h)[i]
	(*h)[i].place, (*h)[j].place = i+1, j+1
}

// Push implements heap.Interface.
func (h *dueHeap[T]) Push(x any) {
	it, _ := x.(*Item[T])
	*h = append(*h, it)
	it.place = len(*h)
}

// Pop implements heap.Interface.
func (h *dueHeap[T]) Pop() any {
	last := len(*h) - 1
	it := (*h)[last]
	(*h)[last], *h, it.place = nil, (*h)[:last], 0
	return it
}
