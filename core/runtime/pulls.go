package runtime

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// How long a pod waits after failing to pull an image: the first time, and at
// most. It starts anew when the last failure is twice the most ago.
const (
	pullBackOff    = 10 * time.Second
	pullBackOffMax = 300 * time.Second
)

// pulls lets images be pulled one at a time, in the order they were asked
// for, and remembers failures.
type pulls struct {
	now  func() time.Time
	turn chan struct{} // holds one token; who has it pulls

	mu       sync.Mutex
	failures map[pullKey]pullFailure
}

type pullKey struct {
	uid   types.UID
	image string
}

type pullFailure struct {
	at    time.Time
	delay time.Duration
	err   error
}

// until is when the next try may be made.
func (f pullFailure) until() time.Time { return f.at.Add(f.delay) }

func newPulls(now func() time.Time) *pulls {
	p := &pulls{now: now, turn: make(chan struct{}, 1), failures: map[pullKey]pullFailure{}}
	p.turn <- struct{}{}
	return p
}

// wait waits for this pull's turn. Unless it fails, done must be called.
func (p *pulls) wait(ctx context.Context) (done func(), err error) {
	select {
	case <-p.turn:
		return func() { p.turn <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// waiting gives the failure after which a pull must still wait.
func (p *pulls) waiting(key pullKey) (pullFailure, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, ok := p.failures[key]
	return f, ok && p.now().Sub(f.at) < f.delay
}

// failed notes a failure: the next try waits twice as long as this one did.
func (p *pulls) failed(key pullKey, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	for k, f := range p.failures {
		if now.Sub(f.at) > 2*pullBackOffMax {
			delete(p.failures, k)
		}
	}
	delay := pullBackOff
	if f, ok := p.failures[key]; ok {
		delay = min(2*f.delay, pullBackOffMax)
	}
	p.failures[key] = pullFailure{at: now, delay: delay, err: err}
}

func (p *pulls) succeeded(key pullKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.failures, key)
}
