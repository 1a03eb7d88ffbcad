package mutants

import (
	"flag"
	"strings"
	"testing"
)

// search has every fault looked for from the first seed on, as make soak does.
var search = flag.Bool("search", false, "look for each fault anew, not first by the seed that found it before")

// Find fails the test unless the check named in finds the fault of a part. run checks
// the seeds from first on, n of them, and returns the one that fails and why; the error
// is nil if none does. The seed that found the fault before (seeds.go) comes first, then
// all from 1 to budget.
func Find(t *testing.T, in, part, fault string, budget int, run func(first uint64, n int) (seed uint64, err error)) {
	t.Helper()
	if err := Seed(part, fault); err != nil {
		t.Fatal(err)
	}
	defer Clear(part)
	kept, known := seeds[in][part+" "+fault]
	if known && !*search {
		if _, err := run(kept, 1); err != nil {
			t.Logf("found by seed %d: %s", kept, firstLine(err))
			return
		}
	}
	seed, err := run(1, budget)
	switch {
	case err == nil:
		t.Errorf("not found by %d seeds", budget)
	case known && kept == seed:
		t.Logf("found by seed %d: %s", seed, firstLine(err))
	default:
		t.Logf("found by seed %d, which test/mutants/seeds.go does not name: %s", seed, firstLine(err))
	}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
