package worker

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// queue says when which pod should be looked at again. A later entry for a
// pod replaces the earlier one.
type queue struct {
	// now is Config.Now.
	now func() time.Time

	mu  sync.Mutex
	due map[types.UID]time.Time
}

func newQueue(now func() time.Time) *queue {
	return &queue{now: now, due: map[types.UID]time.Time{}}
}

// add makes uid due after d.
func (q *queue) add(uid types.UID, d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.due[uid] = q.now().Add(d)
}

// take removes and gives the pods that became due before now.
func (q *queue) take() []types.UID {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	var uids []types.UID
	for uid, t := range q.due {
		if t.Before(now) {
			uids = append(uids, uid)
			delete(q.due, uid)
		}
	}
	return uids
}

// takeDue reports whether uid is due, or was taken already, and takes it.
func (q *queue) takeDue(uid types.UID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t, waits := q.due[uid]; waits && !t.Before(q.now()) {
		return false
	}
	delete(q.due, uid)
	return true
}

// hasten makes pods that would be due later due after a delay, each after one of
// its own.
func (q *queue) hasten(delay func() time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	for uid, t := range q.due {
		if sooner := now.Add(delay()); sooner.Before(t) {
			q.due[uid] = sooner
		}
	}
}

func (q *queue) forget(uid types.UID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.due, uid)
}
