//go:build mutants

package history

import (
	"testing"

	"github.com/wardlet/wardlet/test/mutants"
)

// budget is the number of histories within which a fault must be found; an ordinary run plays
// several times as many.
const budget = 400

// TestEveryFaultIsFound tests the comparison itself: with each fault in the mux the comparison must
// fail. It runs with the overlay of test/mutants.
func TestEveryFaultIsFound(t *testing.T) {
	faults := mutants.Faults("mux")
	if len(faults) < 15 {
		t.Fatalf("%d faults are too few", len(faults))
	}
	first := func(seed uint64, n int) (uint64, error) {
		if _, _, failures := run(seed, n, 1); len(failures) > 0 {
			return failures[0].seed, failures[0].err
		}
		return 0, nil
	}
	for _, fault := range faults {
		t.Run(fault, func(t *testing.T) { mutants.Find(t, "mux", fault, budget, first) })
	}
	if seed, err := first(1, budget/10); err != nil {
		t.Errorf("without a fault seed %d fails: %v", seed, err)
	}
}
