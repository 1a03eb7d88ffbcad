package worker

import (
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
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

const (
	// errorDelay is how long a failed turn waits before the next.
	errorDelay = 10 * time.Second
	// awayDelay is the same where the runtime was not there or the network not
	// ready: nothing is wrong with the pod, and either can be back at any time.
	awayDelay = time.Second
)

// errNetwork is why a pod that needs the network has to wait.
var errNetwork = errors.New("network is not ready")

// failures are the parts of a turn that went wrong, where one does not stop
// the others.
type failures []error

// Error renders all of them.
func (f failures) Error() string { return errors.Join(f...).Error() }

// Unwrap gives all of them.
func (f failures) Unwrap() []error { return f }

// retryIn is how long to wait after a turn that failed: what its most hopeful
// part asks for.
func (p *Pool) retryIn(err error) time.Duration {
	if parts, ok := errors.AsType[failures](err); ok {
		delay := p.syncFrequency()
		for _, e := range parts {
			delay = min(delay, p.retryIn(e))
		}
		return delay
	}
	if errors.Is(err, errNetwork) || errors.Is(err, status.ErrAway) {
		return p.cfg.Jitter(awayDelay)
	}
	if f, ok := errors.AsType[*status.Fault](err); ok && !f.RetryAt.IsZero() {
		return min(max(f.RetryAt.Sub(p.cfg.Now()), 0), p.syncFrequency())
	}
	return p.cfg.Jitter(errorDelay)
}
