package main

import (
	"slices"
	"time"
)

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

func plain(name string, value float64, unit string) figure {
	return figure{Name: name, Value: value, Unit: unit}
}

// beside adds the value that the figure is compared with.
func (f figure) beside(peer string, value float64) figure {
	f.Peer, f.PeerValue = peer, &value
	return f
}

func (f figure) atMost(limit float64) figure {
	f.Limit = &limit
	return f
}

// series are measurements by name, one value per round. Times are in
// nanoseconds.
type series map[string][]float64

func (s series) add(name string, value float64) { s[name] = append(s[name], value) }

func (s series) addTime(name string, value time.Duration) { s.add(name, float64(value)) }

// addMedian adds the median of the times of one round.
func (s series) addMedian(name string, times []time.Duration) {
	values := make([]float64, len(times))
	for i, t := range times {
		values[i] = float64(t)
	}
	s.add(name, median(values))
}

// middle returns the median over the rounds.
func (s series) middle(name string) float64 { return median(s[name]) }

// worst returns the largest value of all rounds.
func (s series) worst(name string) float64 { return slices.Max(s[name]) }

// over returns the median of the differences of a and b.
func (s series) over(a, b string) float64 {
	return s.by(a, b, func(a, b float64) float64 { return a - b })
}

// ratio returns the median of the ratios of a to b.
func (s series) ratio(a, b string) float64 {
	return s.by(a, b, func(a, b float64) float64 { return a / b })
}

func (s series) by(a, b string, compare func(a, b float64) float64) float64 {
	var values []float64
	for i := range min(len(s[a]), len(s[b])) {
		values = append(values, compare(s[a][i], s[b][i]))
	}
	return median(values)
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
