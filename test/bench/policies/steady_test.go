package main

import (
	"errors"
	"testing"
	"time"
)

// TestMeasurementsThatWereDisturbedAreRepeated is not parallel: it goes by how
// fast this machine is.
func TestMeasurementsThatWereDisturbedAreRepeated(t *testing.T) {
	for name, test := range map[string]struct {
		best        float64 // of a probe, in nanoseconds
		least, most int     // how often it is measured
	}{
		"nobody disturbs it": {1e9, 1, 1},
		"somebody always":    {1e-9, 1, 1}, // it is not begun before the patience is over
	} {
		s, err := newSteady()
		if err != nil {
			t.Fatal(err)
		}
		s.best = test.best
		n := 0
		start := time.Now()
		ok, err := s.measure(func() error { n++; return nil })
		if err != nil {
			t.Fatal(err)
		}
		took := time.Since(start)
		if n < test.least || n > test.most {
			t.Errorf("%s: measured %d times", name, n)
		}
		if always := test.best < 1; always == ok || always != (took >= patience) || always != (s.share() == 1) {
			t.Errorf("%s: it took %s, a share of %v was disturbed", name, took, s.share())
		}
	}
}

func TestADisturbedDecisionDoesNotCount(t *testing.T) {
	t.Parallel()
	s, err := newSteady()
	if err != nil {
		t.Fatal(err)
	}
	for best, want := range map[float64]bool{1e9: true, 1e-9: false} {
		s.best = best
		if got := s.undisturbed(); got != want {
			t.Errorf("with a best of %v ns: %v", best, got)
		}
	}
}

func TestWithoutSteadinessEverythingCounts(t *testing.T) {
	t.Parallel()
	var s *steady
	errWhy := errors.New("why")
	if _, err := s.measure(func() error { return errWhy }); !errors.Is(err, errWhy) || !s.undisturbed() || s.share() != 0 {
		t.Errorf("%v, %v, %v", err, s.undisturbed(), s.share())
	}
	s, err := newSteady()
	if err != nil {
		t.Fatal(err)
	}
	s.best = 1e9
	if _, err := s.measure(func() error { return errWhy }); !errors.Is(err, errWhy) {
		t.Errorf("error %v", err)
	}
}
