package preflight

import "time"

// DefaultCheckTimeout is how long the runtime, a source or a running agent may
// take to answer a check. A node is checked when it is slow or in trouble, so
// the limit is generous; a runtime that is away fails at once all the same.
const DefaultCheckTimeout = 30 * time.Second

// slowAnswer is how long an answer may take before the check says that it waits.
const slowAnswer = 2 * time.Second

// CheckOptions say how a check is made. The zero value is valid.
type CheckOptions struct {
	// Version is that of this program, empty for a build that is no release.
	Version string
	// Timeout bounds the answers of the runtime, of each source and of a running
	// agent; 0 is DefaultCheckTimeout.
	Timeout time.Duration
	// Waiting is called when subject has not answered for a while; limit is the
	// longest that the check waits. nil: nothing is said.
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
