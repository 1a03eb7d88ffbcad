package policy

import "time"

// turnPause is for how long those wait whose turn it is not, though there is something
// in the budget.
const turnPause = 2 * time.Second

// budgetTurns have what comes into a spent budget go to a question about a pod that runs
// and to others in turn: else new pods, which are asked about again and again, would
// leave nothing for those that run, or these for new ones.
type budgetTurns struct {
	// owed: the next is about a pod that runs and is being waited for; reviewed: the
	// last was.
	owed, reviewed bool
}

// others is how long a question waits that is not about a pod that runs, where the
// budget lacks something for so long.
func (t *budgetTurns) others(lacks time.Duration) time.Duration {
	switch {
	case lacks > 0:
		return lacks
	case t.owed:
		return turnPause
	}
	t.reviewed = false
	return 0
}

// review is how long a question about a pod that runs waits, before it is asked again
// without fail.
func (t *budgetTurns) review(lacks time.Duration) time.Duration {
	switch {
	case lacks <= 0:
		t.owed, t.reviewed = false, true
		return 0
	case t.reviewed:
		return min(lacks, mostPatience) + turnPause
	}
	t.owed = true
	return min(lacks, mostPatience)
}
