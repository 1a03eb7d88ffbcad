package simulation

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/worker"
)

// requests are the workers as the sync loop has them. What it asks of them is noted,
// to hold the workers to it.
type requests struct {
	*worker.Pool
	link *link
}

// ending is a pod that was asked to end.
type ending struct {
	// grace is the least grace period asked for, in seconds, since when that was.
	grace int64
	since time.Time
	// again: it is to come back after that. What is asked then is about that life.
	again bool
}

// Update hands a request on, and notes it when the worker has it: what it does from
// then on is by that.
func (r *requests) Update(q worker.Request) {
	leaves := q.Replaces != "" && r.TerminationRequested(q.Replaces)
	r.Pool.Update(q)
	w, l := r.link.world, r.link
	w.mu.Lock()
	defer w.mu.Unlock()
	if q.Pod == nil {
		return
	}
	uid := q.Pod.UID
	w.note("request %d for %s", q.Kind, uid)
	if q.Kind == worker.Create {
		if e := l.endings[uid]; e != nil {
			e.again = true
			return
		}
		if leaves && q.Replaces != uid { // one that is wanted itself is not waited for
			l.after[uid] = q.Replaces
		}
	}
	if q.Kind != worker.Kill && q.Pod.DeletionTimestamp == nil {
		return
	}
	e := l.endings[uid]
	if e == nil {
		e = &ending{grace: max(*q.Pod.Spec.TerminationGracePeriodSeconds, 1)}
		if q.Pod.DeletionGracePeriodSeconds != nil {
			e.grace = max(*q.Pod.DeletionGracePeriodSeconds, 1)
		}
		l.endings[uid] = e
	} else if q.Pod.DeletionGracePeriodSeconds != nil {
		e.shorten(*q.Pod.DeletionGracePeriodSeconds)
	}
	if q.Kill != nil && q.Kill.Grace != nil {
		e.shorten(*q.Kill.Grace)
	}
}

// Recreate hands that a pod is to come back on, and notes it.
func (r *requests) Recreate(uid types.UID) bool {
	returns := r.Pool.Recreate(uid)
	l := r.link
	l.world.mu.Lock()
	defer l.world.mu.Unlock()
	if e := l.endings[uid]; returns && e != nil {
		l.world.note("%s is to come back", uid)
		e.again = true
	}
	return returns
}

// shorten applies a grace period that was asked for later: it never grows.
func (e *ending) shorten(seconds int64) {
	if seconds = max(seconds, 1); seconds < e.grace && !e.again {
		e.grace, e.since = seconds, time.Now()
	}
}

// left records that a worker is gone. It is called with the pool locked.
func (l *link) left(uid types.UID) {
	l.world.mu.Lock()
	defer l.world.mu.Unlock()
	delete(l.endings, uid)
	delete(l.after, uid)
	delete(l.killing, uid)
}
