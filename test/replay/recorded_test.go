package replay

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var record = flag.Bool("record", false, "write testdata anew, with the decisions of the product as it is")

// recorded is a bundle of decisions that an earlier binary made: testdata/README.md
// says which.
const recorded = "testdata/decisions.zip"

// recordedDecisions is how many there are, a tenth each of the hooks filter and merge.
const recordedDecisions = 2_000

// TestReplay_decisionsOfAnEarlierBinary replays the bundle with the product as it is:
// what it decides has not changed since.
func TestReplay_decisionsOfAnEarlierBinary(t *testing.T) {
	wardlet := product(t)
	if *record {
		recordDecisions(t, wardlet)
	}
	same(t, "of an earlier binary", recordedDecisions, replays(t, wardlet, "--bundle", recorded))
}

func recordDecisions(t *testing.T, wardlet string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	decide(t, dir, recordedDecisions)
	if err := os.Remove(recorded); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), wardlet, "policy", "export", "--state", dir, "--to", recorded).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
