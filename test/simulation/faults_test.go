//go:build seededfaults

package simulation

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pleg"
	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/core/syncloop"
	"github.com/wardlet/wardlet/core/worker"
)

// budget is within how many scripts a fault must be found; an ordinary run has several
// times as many.
const budget = 300

// part is something that can be made to have faults.
type part struct {
	name   string
	seed   func(string) error
	faults []string
}

// parts are the faults that show in what runs. What only shows in the order of events
// or of changes is found by the comparison with a kubelet.
func parts() []part {
	return []part{
		{"worker", worker.Seed, worker.SeededFaults()},
		{"syncloop", syncloop.Seed, syncloop.SeededFaults()},
		{"status", status.Seed, status.SeededFaults()},
		{"mux", mux.Seed, append(mux.SeededVerdictFaults(), "delete-dropped", "removal-of-snapshot-lost", "old-pod-handed-on", "update-as-reconcile", "gone-of-difference-lost")},
		{"pleg", pleg.Seed, []string{"event-lost", "inspection-too-new", "cache-time-too-new"}},
		{"runtime", func(name string) error { foreign.Store(name != ""); return nil }, []string{"foreign-pod-shown"}},
	}
}

// TestEveryFaultIsFound proves the proof: with each fault in a part a script fails. It
// runs with -tags seededfaults.
func TestEveryFaultIsFound(t *testing.T) {
	count := 0
	for _, p := range parts() {
		count += len(p.faults)
		for _, fault := range p.faults {
			t.Run(p.name+" "+fault, func(t *testing.T) {
				if err := p.seed(fault); err != nil {
					t.Fatal(err)
				}
				defer func() { _ = p.seed("") }()
				for of := uint64(1); of <= budget; of++ {
					_, _, wrong := play(t, generate(of), false)
					if wrong != nil {
						first, _, _ := strings.Cut(wrong.Error(), "\n")
						t.Logf("found by seed %d: %s", of, first)
						return
					}
				}
				t.Errorf("not found in %d scripts", budget)
			})
		}
	}
	if count < 15 {
		t.Errorf("%d faults are too few", count)
	}
	t.Run("no fault", func(t *testing.T) {
		for of := range uint64(budget / 10) {
			if _, _, wrong := play(t, generate(of+1), false); wrong != nil {
				t.Errorf("seed %d fails: %v", of+1, wrong)
			}
		}
	})
}
