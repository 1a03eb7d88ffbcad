package image

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/internal/backoff"
)

// How long a pod waits after a failed pull: the first time, and at most. The delays start again
// from the first if the last failure is older than twice the maximum.
const (
	pullBackOff    = 10 * time.Second
	pullBackOffMax = 300 * time.Second
)

// delays are the delays after consecutive failures.
var delays = backoff.Exponential{Min: pullBackOff, Max: pullBackOffMax}

// failures has the last failure of each pod and image, and of each owner and image whose registry
// could not be reached.
type failures struct {
	now func() time.Time

	mu   sync.Mutex
	last map[failureKey]failure
}

// failureKey has either a pod or an owner.
type failureKey struct {
	uid   types.UID
	owner string
	image string
}

type failure struct {
	at    time.Time
	delay time.Duration
	err   error
}

// retryAt returns when the next try is allowed.
func (f failure) retryAt() time.Time { return f.at.Add(f.delay) }

func newFailures(now func() time.Time) *failures {
	return &failures{now: now, last: map[failureKey]failure{}}
}

// waiting returns the last failure, and whether the next pull still has to wait because of it.
func (f *failures) waiting(key failureKey) (failure, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	last, ok := f.last[key]
	return last, ok && f.now().Sub(last.at) < last.delay
}

// add records a failure: the delay before the next try is twice the previous one.
func (f *failures) add(key failureKey, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	for k, last := range f.last {
		if now.Sub(last.at) > 2*pullBackOffMax {
			delete(f.last, k)
		}
	}
	f.last[key] = failure{at: now, delay: delays.Next(f.last[key].delay), err: err}
}

// forget removes the failures of a key after a successful pull.
func (f *failures) forget(key failureKey) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.last, key)
}
