package worker

import (
	"time"

	v1 "k8s.io/api/core/v1"
)

const (
	// orphanGrace is what a pod gets that only the runtime knows, and that no earlier agent
	// was ending.
	orphanGrace = time.Second
	// fallbackGrace is what a container gets whose pod names no period.
	fallbackGrace = 2 * time.Second
)

// effectiveGrace is the grace period, in seconds, of a pod that is ending.
// current is the period in force, 0 if there is none yet; it can only become
// shorter. override is what the request asked for. The result is at least 1.
func effectiveGrace(current int64, p *v1.Pod, override *int64) int64 {
	grace, named := current, false
	shorten := func(seconds *int64) {
		if seconds != nil && (grace == 0 || *seconds < grace) {
			grace, named = *seconds, true
		}
	}
	if p != nil {
		shorten(p.DeletionGracePeriodSeconds)
	}
	shorten(override)
	if !named && grace == 0 && p != nil && p.Spec.TerminationGracePeriodSeconds != nil {
		grace = *p.Spec.TerminationGracePeriodSeconds
	}
	return max(grace, 1)
}

// restartGrace is what a container gets that is stopped while its pod goes on.
func restartGrace(p *v1.Pod) time.Duration {
	switch {
	case p.DeletionGracePeriodSeconds != nil:
		return seconds(*p.DeletionGracePeriodSeconds)
	case p.Spec.TerminationGracePeriodSeconds != nil:
		return seconds(*p.Spec.TerminationGracePeriodSeconds)
	}
	return fallbackGrace
}

// longest is what a number of seconds counts for at most, also where it is meant as
// "for ever": what is added to it, or half of it, still is a duration.
const longest = 100 * 365 * 24 * time.Hour

// seconds is a number of seconds, between zero and longest.
func seconds(n int64) time.Duration {
	return time.Duration(min(max(n, 0), int64(longest/time.Second))) * time.Second
}
