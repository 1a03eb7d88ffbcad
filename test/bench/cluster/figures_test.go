package main

import (
	"testing"
	"time"
)

func TestFigures_haveTheirLimits(t *testing.T) {
	t.Parallel()
	s := series{}
	for _, side := range []string{ours, kubelet} {
		for _, what := range []string{requests, traffic, cpu, resident, alone} {
			s.add(what, side, 100)
		}
	}
	s.add(starting, kubelet, float64(time.Second))
	s.add(starting, ours, float64(500*time.Millisecond))
	s.add(starting, direct, float64(100*time.Millisecond))
	want := map[string]float64{
		"cluster-idle-agent": 48 << 20, "cluster-pod-start": float64(700 * time.Millisecond), "cluster-idle-cpu": 0.25,
		"cluster-idle-rss": 0.5, "cluster-api-requests": 100, "cluster-api-bytes": 100,
	}
	check := func() {
		t.Helper()
		limits := map[string]float64{}
		for _, f := range s.figures() {
			if f.Limit != nil {
				limits[f.Name] = *f.Limit
			}
		}
		for name, limit := range want {
			if limits[name] != limit {
				t.Errorf("the limit of %s is %v, want %v", name, limits[name], limit)
			}
		}
		if len(limits) != len(want) {
			t.Errorf("there are limits %v", limits)
		}
	}
	check()
	s[starting+" "+direct] = []float64{float64(900 * time.Millisecond)}
	want["cluster-pod-start"] = float64(960 * time.Millisecond)
	check()
}

func TestFigures_waitForBothSides(t *testing.T) {
	t.Parallel()
	s := series{}
	s.add(requests, kubelet, 5)
	if got := s.figures(); len(got) != 0 {
		t.Errorf("figures of one side: %v", got)
	}
}
