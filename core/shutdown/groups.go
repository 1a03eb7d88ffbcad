package shutdown

import "time"

// Period is the time that a shutdown leaves to the pods from a priority on.
type Period struct {
	// Priority is the lowest priority of the pods.
	Priority int32
	// Period is the time for these pods; 0 or more.
	Period time.Duration
}

// total returns the sum of the periods, which is how long a shutdown has to wait at most.
func total(periods []Period) time.Duration {
	var sum time.Duration
	for _, p := range periods {
		sum += p.Period
	}
	return sum
}

// groupOf returns the index of the period to which a priority belongs: the one with the highest
// Priority that is not above it. Priorities below all periods belong to the lowest. periods are
// sorted by ascending priority.
func groupOf(periods []Period, priority int32) int {
	group := 0
	for i, p := range periods {
		if p.Priority <= priority {
			group = i
		}
	}
	return group
}
