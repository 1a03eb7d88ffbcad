package preflight

import "time"

// DefaultCheckTimeout limits the wait for an answer of the runtime, a source or a running agent. It
// is long, because nodes are often checked while they are slow or faulty. An unreachable runtime
// fails at once nevertheless.
const DefaultCheckTimeout = 30 * time.Second

// slowAnswer is the time after which the check reports that it is waiting.
const slowAnswer = 2 * time.Second

// CheckOptions are the options of a check. The zero value is valid.
type CheckOptions struct {
	// Version is the version of this program, empty for a build that is no release.
	Version string
	// Timeout limits the wait for the runtime, for each source and for a running agent; 0 means
	// DefaultCheckTimeout.
	Timeout time.Duration
	// Waiting is called if subject has not answered after some time. limit is the maximum wait. nil:
	// nothing is reported.
	Waiting func(subject string, limit time.Duration)
}

func (o CheckOptions) timeout() time.Duration {
	if o.Timeout == 0 {
		return DefaultCheckTimeout
	}
	return o.Timeout
}

// await runs one part of a check and calls Waiting if it takes long.
func (o CheckOptions) await(subject string, limit time.Duration, part func() []Finding) []Finding {
	if o.Waiting == nil {
		return part()
	}
	done := make(chan []Finding, 1)
	go func() { done <- part() }()
	timer := time.NewTimer(slowAnswer)
	defer timer.Stop()
	select {
	case findings := <-done:
		return findings
	case <-timer.C:
		o.Waiting(subject, limit)
	}
	return <-done
}
