package image

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/internal/backoff"
)

// How long a pod waits after failing to pull an image: the first time, and at
// most. It starts anew when the last failure is twice the most ago.
const (
	pullBackOff    = 10 * time.Second
	pullBackOffMax = 300 * time.Second
)

// delays are those of consecutive failures.
var delays = backoff.Exponential{Min: pullBackOff, Max: pullBackOffMax}

// failures are the last ones of each pod and image.
type failures struct {
	now func() time.Time

	mu   sync.Mutex
	last map[failureKey]failure
}

type failureKey struct {
	uid   types.UID
	image string
}

type failure struct {
	at    time.Time
	delay time.Duration
	err   error
}

// retryAt returns when the next try may be made.
func (f failure) retryAt() time.Time { return f.at.Add(f.delay) }

func newFailures(now func() time.Time) *failures {
	return &failures{now: now, last: map[failureKey]failure{}}
}

// waiting returns the failure after which a pull must still wait.
func (f *failures) waiting(key failureKey) (failure, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	last, ok := f.last[key]
	return last, ok && f.now().Sub(last.at) < last.delay
}

// add records a failure: the next try waits twice as long as this one did.
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

// forget removes the failures of a pod and image that a pull has ended.
func (f *failures) forget(key failureKey) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.last, key)
}
