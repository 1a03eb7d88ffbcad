//go:build seededfaults

package workers

import (
	"slices"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/worker"
)

// budget is within how many histories a fault must be found; an ordinary run
// has several times as many.
const budget = 500

// found are the faults that show in what is compared here. The others are
// about starting and repeating, which a history decides; simulation finds them.
var found = []string{
	"grace-grown", "grace-never-shrinks", "container-not-stopped", "ends-without-looking",
	"same-uid-add-forgotten", "restart-request-ignored", "static-exclusion-skipped",
}

// TestEveryFaultIsFound proves the proof: with each of the faults in the
// workers the comparison fails. It runs with -tags seededfaults.
func TestEveryFaultIsFound(t *testing.T) {
	k := kubelet(t)
	for _, name := range append(slices.Clone(found), "") {
		t.Run("fault "+name, func(t *testing.T) {
			if err := worker.Seed(name); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = worker.Seed("") }()
			n := budget
			if name == "" {
				n = budget / 10
			}
			_, failed := run(t, k, 1, n, 1)
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
