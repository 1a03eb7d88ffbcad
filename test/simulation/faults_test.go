//go:build mutants

package simulation

import (
	"testing"

	"github.com/wardlet/wardlet/test/mutants"
)

// budget is how many scripts may be needed to find a fault. An ordinary run has several
// times as many.
const budget = 300

// shown returns, for each part, the faults that affect what runs. Faults that affect only the
// order of events or of changes are found by the comparison with a kubelet.
func shown() map[string][]string {
	return map[string][]string{
		"runtime":      mutants.Faults("runtime"),
		"worker":       mutants.Faults("worker"),
		"syncloop":     mutants.Faults("syncloop"),
		"probe":        mutants.Faults("probe"),
		"status":       mutants.Faults("status"),
		"mux verdicts": mutants.Faults("mux verdicts"),
		"mux": {
			"delete-dropped", "removal-of-snapshot-lost", "old-pod-handed-on", "update-as-reconcile", "gone-of-difference-lost",
		},
		"pleg": {"event-lost", "inspection-too-new", "cache-time-too-new"},
	}
}

// TestEveryFaultIsFound checks the checks: with each fault in a part, a script fails. It
// runs with the overlay of test/mutants.
func TestEveryFaultIsFound(t *testing.T) {
	count := 0
	for part, faults := range shown() {
		count += len(faults)
		for _, fault := range faults {
			t.Run(part+" "+fault, func(t *testing.T) { mutants.Find(t, part, fault, budget, firstFailing(t)) })
		}
	}
	if count < 15 {
		t.Errorf("%d faults are too few", count)
	}
	t.Run("no fault", func(t *testing.T) {
		if seed, err := firstFailing(t)(1, budget/10); err != nil {
			t.Errorf("seed %d fails: %v", seed, err)
		}
	})
}

// firstFailing returns a function that plays n seeds from a seed on and returns the first that
// fails.
func firstFailing(t *testing.T) func(uint64, int) (uint64, error) {
	t.Helper()
	return func(seed uint64, n int) (uint64, error) {
		for of := seed; of < seed+uint64(n); of++ {
			if _, _, wrong := play(t, generate(of), false); wrong != nil {
				return of, wrong
			}
		}
		return 0, nil
	}
}
