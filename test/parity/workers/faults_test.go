//go:build mutants

package workers

import (
	"testing"

	"github.com/wardlet/wardlet/test/mutants"
)

// budget is the number of histories within which a fault must be found; an ordinary run plays
// several times as many.
const budget = 500

// found are the faults that this comparison can find. The other faults are about starting and
// retrying, which a history decides; the simulation finds them.
var found = []string{
	"grace-grown", "grace-never-shrinks", "container-not-stopped", "ends-without-looking",
	"same-uid-add-forgotten", "restart-request-ignored", "static-exclusion-skipped",
}

// TestEveryFaultIsFound tests the comparison itself: with each of the faults in the workers the
// comparison must fail. It runs with the overlay of test/mutants.
func TestEveryFaultIsFound(t *testing.T) {
	k := kubelet(t)
	first := func(seed uint64, n int) (uint64, error) {
		if _, failed := run(t, k, seed, n, 1); len(failed) > 0 {
			return failed[0].seed, failed[0].err
		}
		return 0, nil
	}
	for _, fault := range found {
		t.Run(fault, func(t *testing.T) { mutants.Find(t, "worker", fault, budget, first) })
	}
	if seed, err := first(1, budget/10); err != nil {
		t.Errorf("without a fault seed %d fails: %v", seed, err)
	}
}
