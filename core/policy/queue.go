package policy

import (
	"context"
	"sync"
)

// task is a question: whose pod it is about, empty for the operator's, and how
// it is decided. decide gives what that took in fuel; goOn is false where it was
// cut off.
type task struct {
	tenant string
	decide func(ctx context.Context, at *activity) (fuel int64, goOn bool)

	// seq numbers the tasks in the order they came.
	seq uint64
	// took is what it took in fuel so far, as far as that is known; charged is what
	// its line was charged for it.
	took, charged int64
}

// queue holds the questions that wait: a line for each tenant, and one for the
// operator. The next task is that of the line that had the least for its
// decisions so far, so a tenant whose decisions are dear, or many, waits for
// itself. In a line it is first come first served. It has no bound of its own:
// those who ask have few open questions per pod.
type queue struct {
	// ready says that tasks of a tenant's line can be taken now. It is called
	// with the lock held; wake is called when its answer may be another.
	ready func(tenant string) bool

	// slots is how many tasks may be under way at once beside those that pause, 0
	// for any number.
	slots int

	mu     sync.Mutex
	filled *sync.Cond
	// busy is how many are, idle how many goroutines wait for one.
	busy, idle int
	lines      map[string]*line
	// clock is how much the line had that was served last, before it was.
	clock  int64
	seq    uint64
	closed bool
}

// line is the tasks of one tenant.
type line struct {
	tasks []task
	// had is what the line had for its decisions so far, in fuel. A line that was
	// empty, or not ready, has no credit from then.
	had int64
	// barred reports whether the line has tasks and was not ready when a task was
	// last looked for.
	barred bool
	// cost is what its last decision took: the next one is taken for the same
	// until it is over, or took more.
	cost int64
	// paused counts the line's tasks that were begun and wait for their turn; while
	// there are any no other is begun. pausedSeq is the seq of the last that paused.
	paused    int
	pausedSeq uint64
}

func newQueue(ready func(tenant string) bool) *queue {
	q := &queue{ready: ready, lines: map[string]*line{}}
	q.filled = sync.NewCond(&q.mu)
	return q
}

// add never blocks. What is added after close is dropped.
func (q *queue) add(t task) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	l := q.lines[t.tenant]
	if l == nil {
		l = &line{cost: 1}
		q.lines[t.tenant] = l
	}
	if len(l.tasks) == 0 {
		l.had = max(l.had, q.clock)
	}
	q.seq++
	t.seq = q.seq
	l.tasks = append(l.tasks, t)
	q.filled.Broadcast() // those that pause wait, too
}

// take waits for a task; ok is false once the queue is closed. Whoever takes
// one tells when it is over.
func (q *queue) take() (t task, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if q.closed {
			return task{}, false
		}
		if l := q.next(); l != nil && l.paused == 0 && q.free() {
			q.busy++
			q.clock = l.had
			t, l.tasks[0] = l.tasks[0], task{}
			l.tasks = l.tasks[1:]
			t.charged = l.cost
			l.had += t.charged
			return t, true
		}
		q.idle++
		q.filled.Wait()
		q.idle--
	}
}

func (q *queue) free() bool { return q.slots == 0 || q.busy < q.slots }

// turn is called while a task is under way that took so much more fuel. If a line
// waits that had less, and somebody to serve it, the task pauses until it is the
// turn of its line again.
func (q *queue) turn(t *task, fuel int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[t.tenant]
	if l == nil {
		return // the queue was closed meanwhile
	}
	t.took += fuel
	if more := t.took - t.charged; more > 0 {
		t.charged += more
		l.had += more
	}
	if q.idle == 0 || q.slots == 0 || q.busy < q.slots {
		return
	}
	if best := q.next(); best == nil || best == l || best.had >= l.had {
		return
	}
	l.paused++
	l.pausedSeq = t.seq
	q.busy--
	q.filled.Broadcast()
	for !q.closed && (!q.free() || q.next() != l) {
		q.filled.Wait()
	}
	l.paused--
	q.busy++
}

// next is the line that is served next, nil if none can be: of two that had
// the same, the one whose task waits longer.
func (q *queue) next() (best *line) {
	for tenant, l := range q.lines {
		if l.paused == 0 && !q.mayBegin(tenant, l) {
			continue
		}
		if best == nil || l.before(best) {
			best = l
		}
	}
	return best
}

// mayBegin reports whether a task of the line can begin. A line that becomes ready
// has no credit from before.
func (q *queue) mayBegin(tenant string, l *line) bool {
	if len(l.tasks) == 0 {
		return false
	}
	if !q.ready(tenant) {
		l.barred = true
		return false
	}
	if l.barred {
		l.barred = false
		l.had = max(l.had, q.clock)
	}
	return true
}

// before says that the line is served before another. Of two lines it is always the
// same one: each who waits finds out for itself whether it is its turn.
func (l *line) before(other *line) bool {
	if l.had != other.had {
		return l.had < other.had
	}
	if (l.paused > 0) != (other.paused > 0) {
		return l.paused > 0
	}
	return l.first() < other.first()
}

// first is the seq of the task that goes on or begins next.
func (l *line) first() uint64 {
	if l.paused > 0 {
		return l.pausedSeq
	}
	return l.tasks[0].seq
}

// over says that a task was decided, and what that took in fuel.
func (q *queue) over(t *task, fuel int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy--
	q.filled.Broadcast()
	l := q.lines[t.tenant]
	if l == nil {
		return // the queue was closed meanwhile
	}
	fuel = max(fuel, 1)
	l.had += fuel - t.charged
	l.cost = fuel
}

// wake has those who wait look again.
func (q *queue) wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.filled.Broadcast()
}

// close drops what waits and lets nobody wait any more.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.lines = true, map[string]*line{}
	q.filled.Broadcast()
}
