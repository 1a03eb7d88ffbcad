package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var kept []byte // keeps allocations of a test on the heap

// TestWhatADecisionTakesIsCounted is not parallel, because other tests would be counted, too.
func TestWhatADecisionTakesIsCounted(t *testing.T) {
	settled := 0
	done := make(chan struct{})
	s := side{
		name: "x",
		decide: func(context.Context) error {
			kept = make([]byte, 64)
			go func() { done <- struct{}{} }()
			<-done
			for start := processorTime(); processorTime()-start < 20_000; { // nanoseconds
			}
			return nil
		},
		settle: func(context.Context) { settled++ },
		calls:  200,
	}
	got := series{}
	if err := errors.Join(s.turn(t.Context(), nil, got), s.verdicts(t.Context(), nil, got)); err != nil {
		t.Fatal(err)
	}
	if settled != 400 {
		t.Errorf("%d times after %d decisions", settled, 400)
	}
	for name, least := range map[string]float64{
		"x allocations": 1, "x goroutines": 1, "x cpu": 20_000, "x verdict": 10_000, "x verdict p99": 10_000,
	} {
		if values := got[name]; len(values) != 1 || values[0] < least {
			t.Errorf("%s: %v, want at least %v", name, values, least)
		}
	}
	if n := got["x goroutines"]; n[0] >= 1.5 {
		t.Errorf("%v goroutines a decision", n)
	}
}

// TestDecisionsAtARate is not parallel, because it measures time.
func TestDecisionsAtARate(t *testing.T) {
	for _, awake := range []bool{false, true} {
		settled := 0
		s := side{decide: func(context.Context) error { return nil }, settle: func(context.Context) { settled++ }}
		const calls = 20
		start, processor := time.Now(), processorTime()
		used, times, err := s.timed(t.Context(), nil, calls, awake)
		if err != nil || len(used) != calls || len(times) != calls || settled != calls {
			t.Errorf("%d, %d and %d of %d: %v", len(used), len(times), settled, calls, err)
		}
		if took := time.Since(start); took < calls*interval {
			t.Errorf("%d decisions in %s", calls, took)
		}
		if used := time.Duration(processorTime() - processor); awake && used < calls*interval/2 {
			t.Errorf("awake for %s", used)
		}
		if n := slices.Min(times); n < 0 {
			t.Errorf("a decision took %v ns", n)
		}
		s.decide = func(context.Context) error { return errDenied }
		if _, _, err := s.timed(t.Context(), nil, 1, awake); !errors.Is(err, errDenied) {
			t.Errorf("a pod that is denied gives %v", err)
		}
	}
}

// TestFilesInMemoryAreResident is not parallel, because other tests have such files, too.
func TestFilesInMemoryAreResident(t *testing.T) {
	const size = 8 << 20
	before, err := filesInMemory()
	if err != nil {
		t.Fatal(err)
	}
	file, err := unix.MemfdCreate("test", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(file)
	if _, err := unix.Pwrite(file, make([]byte, size), 0); err != nil {
		t.Fatal(err)
	}
	after, err := filesInMemory()
	if err != nil || after-before != size {
		t.Errorf("a file of %d bytes makes %.0f, %v", size, after-before, err)
	}
	resident, err := residentNow()
	if err != nil || resident <= after+1<<20 {
		t.Errorf("%.0f bytes are resident, %.0f in files: %v", resident, after, err)
	}
}

func TestALineOfTheStatus(t *testing.T) {
	t.Parallel()
	const status = "Name:\tx\nRssAnon:\t   12 kB\nRssFile:\t3 pages\n"
	if n, err := statusLine(status, "RssAnon:"); err != nil || n != 12 {
		t.Errorf("%v, %v", n, err)
	}
	for _, name := range []string{"RssFile:", "RssShmem:"} {
		if _, err := statusLine(status, name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
