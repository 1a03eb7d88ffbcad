//go:build mutants

package pleg

import (
	"testing"

	"github.com/wardlet/wardlet/test/mutants"
)

// budget is the number of histories within which a fault must be found; an ordinary run plays
// several times as many.
const budget = 400

// TestEveryFaultIsFound tests the comparison itself: with each fault in the generator the
// comparison must fail. It runs with the overlay of test/mutants.
func TestEveryFaultIsFound(t *testing.T) {
	faults := mutants.Faults("pleg")
	if len(faults) < 5 {
		t.Fatalf("%d faults are too few", len(faults))
	}
	first := func(seed uint64, n int) (uint64, error) {
		if _, failed := run(t, seed, n, 1); len(failed) > 0 {
			return failed[0].seed, failed[0].err
		}
		return 0, nil
	}
	for _, fault := range faults {
		t.Run(fault, func(t *testing.T) { mutants.Find(t, "pleg", fault, budget, first) })
	}
	if seed, err := first(1, budget/10); err != nil {
		t.Errorf("without a fault seed %d fails: %v", seed, err)
	}
}
