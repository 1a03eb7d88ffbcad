package sched

import (
	"context"
	"sync"
	"sync/atomic"
)

// Task is a question about a pod of a tenant, empty for the operator's. Decide decides
// it and returns the cost in fuel; goOn is false if ctx ended before.
type Task struct {
	Tenant string
	Decide func(ctx context.Context, at *CurrentPolicy) (fuel int64, goOn bool)

	// seq numbers the tasks in the order they came.
	seq uint64
	// took is the known cost of the task in fuel so far. charged is the fuel that its flow
	// was charged for it.
	took, charged int64
}

// Queue is a fair queue: it holds the waiting tasks in a flow for each tenant, and one for
// the operator. The next task is taken from the flow whose decisions have cost least so
// far, so a tenant with expensive or many decisions delays only itself. The tasks of a flow
// are taken in the order they came. The queue has no limit: callers have few open questions
// per pod. It is safe for concurrent use.
type Queue struct {
	// ready reports whether tasks of a tenant can be taken now. It is called with the
	// lock held; Wake must be called when its answer may have changed.
	ready func(tenant string) bool

	// slots is how many tasks may run at once, without those that pause; 0 for any
	// number.
	slots int

	mu     sync.Mutex
	filled *sync.Cond
	// busy is how many tasks run. idle is how many goroutines wait for a task.
	busy, idle int
	flows      map[string]*flow
	// virtualTime is the cost of the flow that was served last, before it was served.
	virtualTime int64
	seq         uint64
	closed      bool
}

// flow has the tasks of one tenant.
type flow struct {
	tasks []Task
	// used is the cost of its decisions so far, in fuel. A flow that was empty, or not
	// ready, gets no credit for that time.
	used int64
	// barred reports whether the flow had tasks and was not ready at the last look.
	barred bool
	// cost is the cost of the flow's last decision. The next one is charged the same until
	// it is done, or costs more.
	cost int64
	// paused counts the tasks that were started and wait in Yield; no other task of the
	// flow is started in the meantime. pausedSeq is the seq of the last one that paused.
	paused    int
	pausedSeq uint64
}

// NewQueue returns an empty queue. ready reports whether tasks of a tenant can be taken
// now, and is called with the queue's lock held. slots is how many tasks may run at once,
// 0 for any number.
func NewQueue(ready func(tenant string) bool, slots int) *Queue {
	q := &Queue{ready: ready, slots: slots, flows: map[string]*flow{}}
	q.filled = sync.NewCond(&q.mu)
	return q
}

// Add adds a task. It never blocks. After Close it drops the task.
func (q *Queue) Add(t Task) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	f := q.flows[t.Tenant]
	if f == nil {
		f = &flow{cost: 1}
		q.flows[t.Tenant] = f
	}
	if len(f.tasks) == 0 {
		f.used = max(f.used, q.virtualTime)
	}
	q.seq++
	t.seq = q.seq
	f.tasks = append(f.tasks, t)
	q.filled.Broadcast() // paused tasks wait, too
}

// Take waits for a task; ok is false once the queue is closed. Done must follow.
func (q *Queue) Take() (t Task, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if q.closed {
			return Task{}, false
		}
		if f := q.next(); f != nil && f.paused == 0 && q.free() {
			q.busy++
			q.virtualTime = f.used
			t, f.tasks[0] = f.tasks[0], Task{}
			f.tasks = f.tasks[1:]
			t.charged = f.cost
			f.used += t.charged
			return t, true
		}
		q.idle++
		q.filled.Wait()
		q.idle--
	}
}

func (q *Queue) free() bool { return q.slots == 0 || q.busy < q.slots }

// Yield charges a running task for more fuel. If a flow that has used less waits, and a
// goroutine is free for it, Yield blocks until it is the turn of the task's flow again.
func (q *Queue) Yield(t *Task, fuel int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	f := q.flows[t.Tenant]
	if f == nil {
		return // the queue was closed
	}
	t.took += fuel
	if more := t.took - t.charged; more > 0 {
		t.charged += more
		f.used += more
	}
	if q.idle == 0 || q.slots == 0 || q.busy < q.slots {
		return
	}
	if best := q.next(); best == nil || best == f || best.used >= f.used {
		return
	}
	f.paused++
	f.pausedSeq = t.seq
	q.busy--
	q.filled.Broadcast()
	for !q.closed && (!q.free() || q.next() != f) {
		q.filled.Wait()
	}
	f.paused--
	q.busy++
}

// next returns the flow that is served next, nil for none. Of two flows that used the same,
// a paused one is first, and then the one whose task waits longer.
func (q *Queue) next() (best *flow) {
	for tenant, f := range q.flows {
		if f.paused == 0 && !q.mayBegin(tenant, f) {
			continue
		}
		if best == nil || f.before(best) {
			best = f
		}
	}
	return best
}

// mayBegin reports whether a task of the flow can be started. A flow that becomes ready
// gets no credit for the time before.
func (q *Queue) mayBegin(tenant string, f *flow) bool {
	if len(f.tasks) == 0 {
		return false
	}
	if !q.ready(tenant) {
		f.barred = true
		return false
	}
	if f.barred {
		f.barred = false
		f.used = max(f.used, q.virtualTime)
	}
	return true
}

// before reports whether the flow is served before another. The order is strict, so that
// each waiting goroutine can check for itself whether it is its turn.
func (f *flow) before(other *flow) bool {
	if f.used != other.used {
		return f.used < other.used
	}
	if (f.paused > 0) != (other.paused > 0) {
		return f.paused > 0
	}
	return f.first() < other.first()
}

// first returns the seq of the task that continues or starts next.
func (f *flow) first() uint64 {
	if f.paused > 0 {
		return f.pausedSeq
	}
	return f.tasks[0].seq
}

// Done ends a task. fuel is what it cost.
func (q *Queue) Done(t *Task, fuel int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy--
	q.filled.Broadcast()
	f := q.flows[t.Tenant]
	if f == nil {
		return // the queue was closed
	}
	fuel = max(fuel, 1)
	f.used += fuel - t.charged
	f.cost = fuel
}

// Wake makes waiting goroutines call ready again.
func (q *Queue) Wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.filled.Broadcast()
}

// Close drops the waiting tasks and makes Take and Yield return.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.flows = true, map[string]*flow{}
	q.filled.Broadcast()
}

// CurrentPolicy is the policy whose plugin a goroutine runs, for the log if the plugin does
// not return. It is safe for concurrent use.
type CurrentPolicy struct{ name atomic.Pointer[string] }

// Enter sets the policy before its plugin is called.
func (a *CurrentPolicy) Enter(name string) { a.name.Store(&name) }

// Leave clears the policy after the call.
func (a *CurrentPolicy) Leave() { a.name.Store(nil) }

// Name returns the name of the policy, empty for none.
func (a *CurrentPolicy) Name() string {
	if name := a.name.Load(); name != nil {
		return *name
	}
	return ""
}
