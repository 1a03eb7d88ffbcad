package main

import (
	"errors"
	"testing"
	"time"
)

// probed returns a steady whose probes take these times, one after the other; the last time is then
// repeated.
func probed(nanoseconds ...float64) *steady {
	return &steady{best: 100, each: func(int) float64 {
		took := nanoseconds[0]
		if len(nanoseconds) > 1 {
			nanoseconds = nanoseconds[1:]
		}
		return took
	}}
}

func TestMeasurementsThatWereDisturbedAreRepeated(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		probes []float64
		times  int
		ok     bool
	}{
		"nobody disturbs it":            {[]float64{100}, 1, true},
		"a little slower is not slower": {[]float64{109}, 1, true},
		"somebody does before it":       {[]float64{200, 100}, 1, true},
		"somebody does meanwhile":       {[]float64{100, 200, 100}, 2, true},
		"somebody always":               {[]float64{200}, 1, false}, // patience has passed first
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := probed(test.probes...)
			n := 0
			start := time.Now()
			ok, err := s.measure(func() error { n++; return nil })
			if err != nil || ok != test.ok || n != test.times {
				t.Errorf("measured %d times, undisturbed: %v, error %v", n, ok, err)
			}
			if took := time.Since(start); !ok && took < patience {
				t.Errorf("given up after %s", took)
			}
		})
	}
}

func TestAProbeTakesTime(t *testing.T) {
	t.Parallel()
	s, err := newSteady()
	if err != nil {
		t.Fatal(err)
	}
	if s.best <= 0 || s.best > 1e6 {
		t.Errorf("native Go takes %v ns", s.best)
	}
}

func TestADisturbedDecisionDoesNotCount(t *testing.T) {
	t.Parallel()
	for took, want := range map[float64]bool{100: true, 200: false} {
		if got := probed(took).undisturbed(); got != want {
			t.Errorf("where a probe takes %v ns: %v", took, got)
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
