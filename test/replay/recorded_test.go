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

// recorded is a bundle of decisions of an earlier binary, which testdata/README.md names.
const recorded = "testdata/decisions.zip"

// recordedDecisions is the number of its decisions; a tenth each is of the hooks filter and merge.
const recordedDecisions = 2_000

// TestReplay_decisionsOfAnEarlierBinary replays the bundle with the current product: its decisions
// must not have changed since.
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
