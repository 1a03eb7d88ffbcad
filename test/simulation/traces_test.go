//go:build !race

package simulation

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var recordTraces = flag.Bool("record", false, "write testdata/traces.txt.gz anew, with what happens now")

const (
	tracesFile = "testdata/traces.txt.gz"
	// recordedTraces is how many scripts are on record: the longest among the first
	// candidateTraces that have the same trace in at least half of samplePlays plays.
	recordedTraces  = 50
	candidateTraces = 800
	samplePlays     = 16
	// mostPlays is how often a script is played whose trace differs from the record.
	mostPlays = 40
)

// TestTraces_areThoseOnRecord plays scripts whose traces are on record: each
// call, answer and exit, by instant. What happens in one instant has no order, and neither
// have the cases of a select, so a script may need more than one play. The test is not parallel,
// because the order varies less on one processor. It does not run under the race detector, which
// reorders goroutines on purpose.
func TestTraces_areThoseOnRecord(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if *recordTraces {
		writeTraces(t)
	}
	recorded := readTraces(t)
	if len(recorded) != recordedTraces {
		t.Fatalf("%d traces are on record, not %d", len(recorded), recordedTraces)
	}
	for of, want := range recorded {
		var got []string
		same := false
		for plays := 0; !same && plays < mostPlays; plays++ {
			got = traceOf(t, of)
			same = slices.Equal(got, want)
		}
		if same {
			continue
		}
		at := 0
		for at < min(len(got), len(want)) && got[at] == want[at] {
			at++
		}
		around := func(all []string) string {
			return strings.Join(all[min(len(all), max(0, at-3)):min(len(all), at+4)], "\n")
		}
		t.Errorf("seed %d goes another way %d times, the last from line %d on:\n%s\non record is:\n%s", of, mostPlays, at+1, around(got), around(want))
	}
}

// traceOf returns the trace of a script, sorted within each instant.
func traceOf(t *testing.T, of uint64) []string {
	t.Helper()
	_, trace, wrong := play(t, generate(of), true)
	if wrong != nil {
		t.Errorf("seed %d: %v", of, wrong)
	}
	for i := range trace {
		trace[i] = strings.ReplaceAll(trace[i], "\n", `\n`)
	}
	slices.Sort(trace)
	return trace
}

func readTraces(t *testing.T) map[uint64][]string {
	t.Helper()
	text, err := os.ReadFile(tracesFile)
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	all := map[uint64][]string{}
	var of uint64
	lines := bufio.NewScanner(unpacked)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if _, err := fmt.Sscanf(lines.Text(), "SEED %d", &of); err == nil {
			continue
		}
		all[of] = append(all[of], lines.Text())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// writeTraces records the most frequent trace of each script.
func writeTraces(t *testing.T) {
	t.Helper()
	type usual struct {
		seed  uint64
		trace []string
	}
	var all []usual
	for of := uint64(1); of <= candidateTraces; of++ {
		plays := map[string]int{}
		for range samplePlays {
			plays[strings.Join(traceOf(t, of), "\n")]++
		}
		for trace, times := range plays {
			if 2*times >= samplePlays {
				all = append(all, usual{of, strings.Split(trace, "\n")})
				break
			}
		}
	}
	t.Logf("%d of %d scripts go one way mostly", len(all), candidateTraces)
	slices.SortFunc(all, func(a, b usual) int { return len(b.trace) - len(a.trace) })
	var packed bytes.Buffer
	out, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range all[:min(len(all), recordedTraces)] {
		fmt.Fprintf(out, "SEED %d\n%s\n", u.seed, strings.Join(u.trace, "\n"))
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tracesFile, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
