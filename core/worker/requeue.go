package worker

import (
	"errors"
	"time"

	"github.com/wardlet/wardlet/core/status"
)

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
