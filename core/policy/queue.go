package policy

import (
	"sync"

	"github.com/wardlet/wardlet/core/pod"
)

// task is a question and what to do with its verdict.
type task struct {
	question pod.Question
	answer   func(pod.Verdict)
}

// queue holds the questions that wait, first come first served. It has no bound
// of its own: those who ask have few open questions per pod.
type queue struct {
	mu     sync.Mutex
	filled *sync.Cond
	tasks  []task
	closed bool
}

func newQueue() *queue {
	q := &queue{}
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
	q.tasks = append(q.tasks, t)
	q.filled.Signal()
}

// take waits for a task; ok is false once the queue is closed.
func (q *queue) take() (t task, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.tasks) == 0 && !q.closed {
		q.filled.Wait()
	}
	if q.closed {
		return task{}, false
	}
	t, q.tasks[0] = q.tasks[0], task{}
	q.tasks = q.tasks[1:]
	return t, true
}

// close drops what waits and lets nobody wait any more.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.tasks = true, nil
	q.filled.Broadcast()
}
