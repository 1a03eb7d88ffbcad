//go:build seededfaults

package history

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/mux"
)

// budget is within how many histories a fault must be found; an ordinary run
// has several times as many.
const budget = 400

// TestEveryFaultIsFound proves the proof: with each fault in the mux the
// comparison fails. It runs with -tags seededfaults.
func TestEveryFaultIsFound(t *testing.T) {
	faults := mux.SeededFaults()
	if len(faults) < 15 {
		t.Fatalf("%d faults are too few", len(faults))
	}
	for _, name := range append(faults, "") {
		t.Run("fault "+name, func(t *testing.T) {
			if err := mux.Seed(name); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = mux.Seed("") }()
			n := budget
			if name == "" {
				n = budget / 10
			}
			_, _, failures := run(1, n, 1)
			switch {
			case name == "" && len(failures) > 0:
				t.Errorf("without a fault seed %d fails: %v", failures[0].seed, failures[0].err)
			case name == "":
			case len(failures) == 0:
				t.Errorf("not found in %d histories", n)
			default:
				f := failures[0]
				first, _, _ := strings.Cut(f.err.Error(), "\n")
				t.Logf("found by seed %d: %s", f.seed, first)
			}
		})
	}
}
