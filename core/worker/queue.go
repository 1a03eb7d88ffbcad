package worker

import (
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// queue holds when which pod is due for its next sync. A later entry for a pod replaces the
// earlier one.
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

// shortenDelays limits the time until each pod is due to a delay of its own.
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
	// errorDelay is the time between a failed iteration and the next.
	errorDelay = 10 * time.Second
	// unavailableDelay is the same where the runtime is unavailable or the network not
	// ready: nothing is wrong with the pod, and either can be back at any time.
	unavailableDelay = time.Second
)

// errNetwork is why a pod that needs the network has to wait.
var errNetwork = errors.New("network is not ready")

// failures are the errors of an iteration in which one does not stop the others.
type failures []error

// Error renders all of them.
func (f failures) Error() string { return errors.Join(f...).Error() }

// Unwrap returns all of them.
func (f failures) Unwrap() []error { return f }

// retryDelay returns the time between a failed iteration and the next: the shortest that one
// of its errors asks for.
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
