package main

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/test/bench/policies/question"
	"github.com/wardlet/wardlet/test/bench/policies/rivals"
)

const (
	// probes is how many native verdicts a probe takes, about 0.1 ms; quickProbes is how many a
	// probe after a single decision takes.
	probes, quickProbes = 1000, 100
	// disturbedBy is the factor over the best time up to which a probe counts as undisturbed.
	disturbedBy = 1.1
	// warmUp is the number of probes that find the best time. patience is how long a measurement is
	// retried.
	warmUp   = 500
	patience = 500 * time.Millisecond
)

// steady detects whether a measurement is disturbed. On a virtual machine the processors are shared
// with neighbours, which slow everything down by half as much again for milliseconds; that time is
// not our cost. steady detects it by the time of native Go with the same rule. A nil steady accepts
// every measurement.
type steady struct {
	// each makes n native verdicts and returns the nanoseconds of one.
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

// probe reports whether native Go is about as fast as its best time.
func (s *steady) probe(n int) bool {
	each := s.each(n)
	if n == probes && (s.best == 0 || each < s.best) {
		s.best = each
	}
	return each <= s.best*disturbedBy
}

// measure repeats do until it is undisturbed, or until patience is exceeded; ok reports which. Any
// results of do are those of its last call.
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

// counted calls probe and counts it.
func (s *steady) counted(n int) bool {
	s.tried++
	ok := s.probe(n)
	if !ok {
		s.disturbed++
	}
	return ok
}

// undisturbed reports, after a single decision, whether the decision counts.
func (s *steady) undisturbed() bool {
	if s == nil {
		return true
	}
	return s.counted(quickProbes)
}

// share returns the share of the probes that were disturbed.
func (s *steady) share() float64 {
	if s == nil || s.tried == 0 {
		return 0
	}
	return float64(s.disturbed) / float64(s.tried)
}
