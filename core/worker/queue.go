package worker

import (
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// queue holds the time at which each pod is due for its next sync. A later entry for a pod replaces
// the earlier one.
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

// popDue removes and returns the pods that became due before now.
func (q *queue) popDue() []types.UID {
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

// popIfDue reports whether uid is due or not queued, and removes it.
func (q *queue) popIfDue(uid types.UID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t, waits := q.due[uid]; waits && !t.Before(q.now()) {
		return false
	}
	delete(q.due, uid)
	return true
}

// shortenDelays makes each pod due no later than after delay(), which is called for each pod.
func (q *queue) shortenDelays(delay func() time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	for uid, t := range q.due {
		if sooner := now.Add(delay()); sooner.Before(t) {
			q.due[uid] = sooner
		}
	}
}

func (q *queue) remove(uid types.UID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.due, uid)
}

const (
	// errorDelay is the time between a failed iteration and the next one.
	errorDelay = 10 * time.Second
	// unavailableDelay is that time if the runtime is unavailable or the network is not ready:
	// nothing is wrong with the pod, and either can come back at any time.
	unavailableDelay = time.Second
)

// errNetwork is the error for a pod that needs the network while it is not ready.
var errNetwork = errors.New("network is not ready")

// failures are the errors of one iteration that went on after each of them.
type failures []error

// Error renders all of them.
func (f failures) Error() string { return errors.Join(f...).Error() }

// Unwrap returns all of them.
func (f failures) Unwrap() []error { return f }

// retryDelay returns the time between a failed iteration and the next one. If the iteration has
// several errors, it is the shortest of their delays.
func (p *Pool) retryDelay(err error) time.Duration {
	if parts, ok := errors.AsType[failures](err); ok {
		delay := p.SyncFrequency()
		for _, e := range parts {
			delay = min(delay, p.retryDelay(e))
		}
		return delay
	}
	if errors.Is(err, errNetwork) || errors.Is(err, status.ErrRuntimeUnavailable) {
		return p.cfg.Jitter(unavailableDelay)
	}
	if f, ok := errors.AsType[*status.Fault](err); ok && !f.RetryAt.IsZero() {
		return min(max(f.RetryAt.Sub(p.cfg.Now()), 0), p.SyncFrequency())
	}
	return p.cfg.Jitter(errorDelay)
}
