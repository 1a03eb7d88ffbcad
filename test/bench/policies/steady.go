package main

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/test/bench/policies/question"
	"github.com/wardlet/wardlet/test/bench/policies/rivals"
)

const (
	// probes is how many verdicts of native Go a probe takes, some 0.1 ms;
	// quickProbes how many one takes after a single decision.
	probes, quickProbes = 1000, 100
	// disturbedBy is how many times as long as the best a probe may take without
	// being disturbed.
	disturbedBy = 1.1
	// warmUp is how many probes find the best, patience how long a measurement is
	// tried again.
	warmUp   = 500
	patience = 500 * time.Millisecond
)

// steady finds out whether a measurement is disturbed. On a virtual machine the
// processors are shared with neighbours, which make everything half as slow
// again for milliseconds; their time is no cost of ours. Native Go by the same
// rule shows them. A nil steady accepts every measurement.
type steady struct {
	// each takes a number of native verdicts and returns the nanoseconds of one.
	each func(n int) float64
	best float64
	// tried and disturbed count probes.
	tried, disturbed int
}

func newSteady() (*steady, error) {
	p, err := question.Pod()
	if err != nil {
		return nil, err
	}
	s := &steady{each: func(n int) float64 { return verdictsOfNative(p, n) }}
	for range warmUp {
		s.probe(probes)
	}
	return s, nil
}

func verdictsOfNative(p *v1.Pod, n int) float64 {
	start := time.Now()
	for range n {
		rivals.Native(p)
	}
	return float64(time.Since(start)) / float64(n)
}

// probe says whether native Go is as fast as it was at best.
func (s *steady) probe(n int) bool {
	each := s.each(n)
	if n == probes && (s.best == 0 || each < s.best) {
		s.best = each
	}
	return each <= s.best*disturbedBy
}

// measure repeats do until it is undisturbed, or until that takes too long; ok
// reports which. What do leaves behind is of its last call.
func (s *steady) measure(do func() error) (ok bool, err error) {
	if s == nil {
		return true, do()
	}
	for start := time.Now(); ; {
		last := time.Since(start) >= patience
		before := s.counted(probes)
		if !before && !last {
			continue
		}
		if err := do(); err != nil {
			return false, err
		}
		if ok = s.counted(probes) && before; ok || last {
			return ok, nil
		}
	}
}

// counted is probe, counted.
func (s *steady) counted(n int) bool {
	s.tried++
	ok := s.probe(n)
	if !ok {
		s.disturbed++
	}
	return ok
}

// undisturbed says after a single decision whether it counts.
func (s *steady) undisturbed() bool {
	if s == nil {
		return true
	}
	return s.counted(quickProbes)
}

// share returns the part of the probes that were disturbed.
func (s *steady) share() float64 {
	if s == nil || s.tried == 0 {
		return 0
	}
	return float64(s.disturbed) / float64(s.tried)
}
