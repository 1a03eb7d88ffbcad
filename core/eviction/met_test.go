package eviction

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/eviction/threshold"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const gib = 1 << 30

// thresholds parses thresholds that must be valid.
func thresholds(t *testing.T, s threshold.Settings) []threshold.Threshold {
	t.Helper()
	all, faults := threshold.Parse(&s)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return all
}

// memory returns the observation of a node with 10 GiB, of which so many GiB are available.
func memory(available float64) Observations {
	return Observations{threshold.MemoryAvailable: {int64(available * gib), 10 * gib}}
}

// steps advances a state by one pass for each line, "SECONDS AVAILABLE", where AVAILABLE is in GiB,
// or - if it cannot be read. It returns "SECONDS DUE CONDITIONS" for each.
func steps(all []threshold.Threshold, transition time.Duration, lines ...string) []string {
	var s state
	var out []string
	for _, line := range lines {
		var second, available float64
		seen := Observations{}
		if n, _ := fmt.Sscan(line, &second, &available); n == 2 {
			seen = memory(available)
		}
		due, conditions := s.advance(all, seen, transition, noon.Add(time.Duration(second)*time.Second))
		words := []string{fmt.Sprint(second), fmt.Sprint(due)}
		for _, c := range conditions {
			words = append(words, string(c.Type))
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}

func TestState_advance(t *testing.T) {
	t.Parallel()
	type table = map[string]string
	hard := table{"memory.available": "1Gi"}
	for name, test := range map[string]struct {
		settings   threshold.Settings
		transition time.Duration
		passes     string
		want       string
	}{
		"a hard threshold at once, and the condition for the transition period": {
			threshold.Settings{Hard: hard},
			30 * time.Second,
			"0 2, 10 1, 20 0.99, 30 1, 40 3, 49 3, 50 3", "0 [], 10 [], 20 [0] MemoryPressure, 30 [] MemoryPressure, 40 [] MemoryPressure, 49 [] MemoryPressure, 50 []",
		},
		"a soft threshold after its grace period without a gap": {
			threshold.Settings{Soft: hard, SoftGracePeriod: map[string]time.Duration{"memory.available": 20 * time.Second}},
			time.Second,
			"0 0.5, 10 0.5, 15 2, 20 0.5, 39 0.5, 40 0.5, 41 2",
			"0 [] MemoryPressure, 10 [] MemoryPressure, 15 [], 20 [] MemoryPressure, 39 [] MemoryPressure, 40 [0] MemoryPressure, 41 []",
		},
		"until the minimum reclaim is available": {
			threshold.Settings{Hard: hard, MinimumReclaim: table{"memory.available": "1Gi"}},
			time.Second,
			"0 1.5, 10 0.5, 20 1.5, 30 2, 40 1.5", "0 [], 10 [0] MemoryPressure, 20 [0] MemoryPressure, 30 [], 40 []",
		},
		"a share as minimum reclaim": {
			threshold.Settings{Hard: table{"memory.available": "10%"}, MinimumReclaim: table{"memory.available": "20%"}},
			time.Second,
			"0 0.5, 10 2.9, 20 3.1", "0 [0] MemoryPressure, 10 [0] MemoryPressure, 20 []",
		},
		"a soft threshold that is not due yet has no minimum reclaim": {
			threshold.Settings{Soft: hard, SoftGracePeriod: map[string]time.Duration{"memory.available": 20 * time.Second}, MinimumReclaim: table{"memory.available": "1Gi"}},
			time.Second,
			"0 0.5, 10 1.5, 20 1.5", "0 [] MemoryPressure, 10 [], 20 []",
		},
		"an unknown signal meets nothing": {
			threshold.Settings{Hard: hard}, 15 * time.Second, "0 0.5, 10 -, 20 -, 30 0.5", "0 [0] MemoryPressure, 10 [] MemoryPressure, 20 [], 30 [0] MemoryPressure",
		},
		"hard before soft": {
			threshold.Settings{Hard: table{"memory.available": "1Gi"}, Soft: table{"memory.available": "2Gi"}, SoftGracePeriod: map[string]time.Duration{"memory.available": 10 * time.Second}},
			time.Second,
			"0 1.5, 10 1.5, 20 0.5", "0 [] MemoryPressure, 10 [1] MemoryPressure, 20 [0 1] MemoryPressure",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(steps(thresholds(t, test.settings), test.transition, strings.Split(test.passes, ", ")...), ", ")
			if got != test.want {
				t.Errorf("passes\ngot  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestState_advance_orderAndConditions(t *testing.T) {
	t.Parallel()
	all := thresholds(t, threshold.Settings{Hard: map[string]string{
		"pid.available": "10", "imagefs.inodesFree": "5%", "nodefs.available": "10%", "memory.available": "1Gi",
	}})
	var s state
	low := Observation{1, 1000}
	due, conditions := s.advance(all, Observations{
		threshold.PIDAvailable: low, threshold.ImageFSInodesFree: low, threshold.NodeFSAvailable: low, threshold.MemoryAvailable: low,
	}, time.Minute, noon)
	var signals []threshold.Signal
	for _, i := range due {
		signals = append(signals, all[i].Signal)
	}
	if got, want := fmt.Sprint(signals), "[memory.available nodefs.available imagefs.inodesFree pid.available]"; got != want {
		t.Errorf("due %s, want %s", got, want)
	}
	want := "[{DiskPressure nodefs.available is less than 10%} {MemoryPressure memory.available is less than 1Gi} {PIDPressure pid.available is less than 10}]"
	if got := fmt.Sprint(conditions); got != want {
		t.Errorf("conditions %s, want %s", got, want)
	}
}
