package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// planned30 returns a schedule of two benches of ten and twenty minutes, and its clock.
func planned30() (s *schedule, out *bytes.Buffer, clock *time.Time) {
	out, clock = &bytes.Buffer{}, new(time.Time)
	*clock = time.Unix(1_700_000_000, 0)
	return &schedule{out: out, now: func() time.Time { return *clock }, benches: []planned{
		{name: "a", what: "one thing", expected: 10 * time.Minute}, {name: "b", what: "another", expected: 20 * time.Minute},
	}}, out, clock
}

func TestSchedule_planNamesEachBenchAndItsTime(t *testing.T) {
	t.Parallel()
	s, out, _ := planned30()
	s.plan()
	for _, want := range []string{"a", "10 min", "one thing", "20 min", "together", "30 min", "built"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the plan has no %q:\n%s", want, out)
		}
	}
}

func TestSchedule_leftFollowsThePaceOfTheMachine(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		bench int
		done  float64
		took  time.Duration
		want  time.Duration
	}{
		"nothing measured":            {0, 0, 0, 30 * time.Minute},
		"too little to tell":          {0, 0.04, 10 * time.Minute, 29*time.Minute + 36*time.Second},
		"as fast as expected":         {0, 0.5, 5 * time.Minute, 25 * time.Minute},
		"half as fast":                {0, 0.5, 10 * time.Minute, 50 * time.Minute},
		"twice as fast":               {0, 0.5, 150 * time.Second, 12*time.Minute + 30*time.Second},
		"in the second, first failed": {1, 0.5, 20 * time.Minute, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, clock := planned30()
			s.begin()
			*clock = clock.Add(test.took)
			if test.bench == 1 {
				s.leave(0)
			}
			s.step(test.bench, test.done)
			if got := s.left(); got.Round(time.Second) != test.want {
				t.Errorf("%s is left, want %s", got, test.want)
			}
		})
	}
}

func TestSchedule_stepSaysWhatIsDoneAndLeft(t *testing.T) {
	t.Parallel()
	s, out, clock := planned30()
	s.begin()
	*clock = clock.Add(10 * time.Minute)
	s.step(0, 1)
	if got := out.String(); got != "bench: 1 of 2, a, 100 % done; about 20 min left in all\n" {
		t.Errorf("it says %q", got)
	}
}
