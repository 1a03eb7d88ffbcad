package main

import (
	"slices"
	"time"
)

const (
	ours    = "wardlet"
	kubelet = "kubelet"
	direct  = "floor"
)

// message is one line of the output: all figures measured so far.
type message struct {
	// Done is the share of the work that is done.
	Done    float64  `json:"done"`
	Figures []figure `json:"figures"`
}

// figure is one result, as test/bench reads it.
type figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	// Unit is the unit of Value and PeerValue: ns, bytes, count or ratio.
	Unit      string   `json:"unit"`
	Peer      string   `json:"peer"`
	PeerValue *float64 `json:"peer_value"`
	// Limit is the highest allowed Value, null for a figure that is only for information.
	Limit *float64 `json:"limit"`
}

// series are the values of all rounds, by measurement and side.
type series map[string][]float64

func (s series) add(what, side string, value float64) {
	s[what+" "+side] = append(s[what+" "+side], value)
}

// has reports whether all sides have a value of a measurement.
func (s series) has(what string, sides ...string) bool {
	return !slices.ContainsFunc(sides, func(side string) bool { return len(s[what+" "+side]) == 0 })
}

func (s series) middle(what, side string) float64 { return median(s[what+" "+side]) }

// ratio returns the median of the ratios of the rounds.
func (s series) ratio(what string) float64 {
	var all []float64
	for i := range min(len(s[what+" "+ours]), len(s[what+" "+kubelet])) {
		if theirs := s[what+" "+kubelet][i]; theirs > 0 {
			all = append(all, s[what+" "+ours][i]/theirs)
		}
	}
	return median(all)
}

// median returns the middle value, or the mean of the two middle values.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[n/2] + sorted[(n-1)/2]) / 2
}

// The measurements.
const (
	starting = "start"
	bursting = "burst"
	requests = "requests"
	traffic  = "bytes"
	cpu      = "cpu"
	resident = "resident"
	alone    = "alone"
	probing  = "probing"
	restarts = "restarts"
	initial  = "initial"
	flips    = "flips"
	renewals = "renewals"
	changing = "changing"

	joined     = "joined"
	evicted    = "evicted"
	statistics = "statistics"
)

// overFloor is the most that a start may take beyond the calls to the runtime. idleAgent is the
// most memory that an agent without pods may use.
const (
	overFloor = 60 * time.Millisecond
	idleAgent = 48 << 20
	// overRestart and overInit are the most that a restart and an init container may take beyond
	// the calls to the runtime.
	overRestart, overInit = 30 * time.Millisecond, 10 * time.Millisecond
	// atServer is the most time until the API server shows that a container is ready.
	atServer = 100 * time.Millisecond
	// newFiles is the most time until the files of all pods are new after a change of their
	// ConfigMap.
	newFiles = time.Second
)

// figures returns the figures of all measurements so far, with their limits.
func (s series) figures() (all []figure) {
	add := func(name, what, unit string, limit func(theirs float64) float64) {
		if !s.has(what, ours, kubelet) {
			return
		}
		theirs := s.middle(what, kubelet)
		f := figure{Name: name, Value: s.middle(what, ours), Unit: unit, Peer: kubelet, PeerValue: &theirs}
		if limit != nil {
			f.Limit = new(limit(theirs))
		}
		all = append(all, f)
	}
	atMost := func(name, what string, limit float64) {
		if s.has(what, ours, kubelet) {
			all = append(all, figure{Name: name, Value: s.ratio(what), Unit: "ratio", Limit: &limit})
		}
	}
	if s.has(alone, ours) {
		f := figure{Name: "cluster-idle-agent", Value: s.middle(alone, ours), Unit: "bytes", Limit: new(float64(idleAgent))}
		if s.has(alone, kubelet) {
			f.Peer, f.PeerValue = kubelet, new(s.middle(alone, kubelet))
		}
		all = append(all, f)
	}
	if s.has(starting, direct) {
		floor := s.middle(starting, direct)
		add("cluster-pod-start", starting, "ns", func(theirs float64) float64 { return max(0.7*theirs, floor+float64(overFloor)) })
		all = append(all, figure{Name: "cluster-pod-start-floor", Value: floor, Unit: "ns"})
	}
	add("cluster-pods-at-once", bursting, "ns", nil)
	overDirect := func(name, what string, over time.Duration, most func(limit, theirs float64) float64) {
		if floor := s.middle(what, direct); s.has(what, direct) {
			add(name, what, "ns", func(theirs float64) float64 { return most(floor+float64(over), theirs) })
			all = append(all, figure{Name: name + "-floor", Value: floor, Unit: "ns"})
		}
	}
	overDirect("cluster-liveness-restart", restarts, overRestart, func(limit, theirs float64) float64 { return min(limit, theirs) })
	overDirect("cluster-init-container", initial, overInit, func(limit, _ float64) float64 { return limit })
	add("cluster-readiness-p99", flips, "ns", func(float64) float64 { return float64(atServer) })
	add("cluster-object-change-p99", renewals, "ns", func(float64) float64 { return float64(newFiles) })
	add("cluster-object-change-cpu", changing, "ns", func(theirs float64) float64 { return theirs })
	add("cluster-probes-cpu-per-second", probing, "ns", nil)
	atMost("cluster-probes-cpu", probing, 0.3)
	same := func(theirs float64) float64 { return theirs }
	add("cluster-join", joined, "ns", same)
	add("cluster-eviction", evicted, "ns", same)
	add("cluster-statistics-cpu-per-second", statistics, "ns", nil)
	atMost("cluster-statistics-cpu", statistics, 0.3)
	add("cluster-idle-cpu-per-second", cpu, "ns", nil)
	atMost("cluster-idle-cpu", cpu, 0.25)
	add("cluster-idle-resident", resident, "bytes", nil)
	atMost("cluster-idle-rss", resident, 0.5)
	add("cluster-api-requests", requests, "count", same)
	add("cluster-api-bytes", traffic, "bytes", same)
	return all
}
