//go:build seededfaults

package pleg

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/pleg"
)

// budget is within how many histories a fault must be found; an ordinary run
// has several times as many.
const budget = 400

// TestEveryFaultIsFound proves the proof: with each fault in the generator the
// comparison fails. It runs with -tags seededfaults.
func TestEveryFaultIsFound(t *testing.T) {
	faults := pleg.SeededFaults()
	if len(faults) < 5 {
		t.Fatalf("%d faults are too few", len(faults))
	}
	for _, name := range append(faults, "") {
		t.Run("fault "+name, func(t *testing.T) {
			if err := pleg.Seed(name); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = pleg.Seed("") }()
			n := budget
			if name == "" {
				n = budget / 10
			}
			_, failed := run(t, 1, n, 1)
			switch {
			case name == "" && len(failed) > 0:
				t.Errorf("without a fault seed %d fails: %v", failed[0].seed, failed[0].err)
			case name == "":
			case len(failed) == 0:
				t.Errorf("not found in %d histories", n)
			default:
				first, _, _ := strings.Cut(failed[0].err.Error(), "\n")
				t.Logf("found by seed %d: %s", failed[0].seed, first)
			}
		})
	}
}
