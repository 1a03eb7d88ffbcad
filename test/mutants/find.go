package mutants

import (
	"strings"
	"testing"
)

// Find fails the test unless one of budget seeds finds the fault of a part. run checks n
// seeds from first on, and returns the first one that fails and why; the error is nil if
// none does.
func Find(t *testing.T, part, fault string, budget int, run func(first uint64, n int) (seed uint64, err error)) {
	t.Helper()
	if err := Seed(part, fault); err != nil {
		t.Fatal(err)
	}
	defer Clear(part)
	seed, err := run(1, budget)
	if err == nil {
		t.Fatalf("not found by %d seeds", budget)
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	t.Logf("found by seed %d: %s", seed, line)
}
