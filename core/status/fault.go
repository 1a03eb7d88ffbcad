package status

import (
	"errors"
	"time"
)

// ErrNoEvents says that a runtime does not tell of its events.
var ErrNoEvents = errors.New("the runtime has no stream of events")

// Fault is an error with the waiting reason a kubelet reports for it
// (ErrImagePull, CrashLoopBackOff, CreateContainerConfigError, …).
type Fault struct {
	// Reason is CamelCase and becomes the container's waiting reason.
	Reason string
	// RetryAt says when trying again makes sense; zero: as usual.
	RetryAt time.Time
	Err     error
}

// Error renders "Reason: detail".
func (f *Fault) Error() string { return f.Reason + ": " + f.Err.Error() }

// Unwrap gives the detail.
func (f *Fault) Unwrap() error { return f.Err }

// ReasonOf splits err into the reason and message of a waiting container.
// An error that is no Fault gives fallback and its text.
func ReasonOf(err error, fallback string) Reason {
	if f, ok := errors.AsType[*Fault](err); ok {
		return Reason{Reason: f.Reason, Message: f.Err.Error()}
	}
	return Reason{Reason: fallback, Message: err.Error()}
}
