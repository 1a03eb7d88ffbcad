package main

import (
	"maps"
	"slices"
	"strings"
)

// figure is one result, as test/bench reads it.
type figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	// Unit is the unit of all values: ns, bytes, count or ratio.
	Unit      string   `json:"unit"`
	Peer      string   `json:"peer,omitempty"`
	PeerValue *float64 `json:"peer_value,omitempty"`
	// Limit is the highest allowed Value, nil for a figure without a limit.
	Limit *float64 `json:"limit,omitempty"`
}

func plain(name string, value float64, unit string) figure {
	return figure{Name: "policy-" + name, Value: value, Unit: unit}
}

func (f figure) beside(peer string, value float64) figure {
	f.Peer, f.PeerValue = peer, &value
	return f
}

func (f figure) atMost(limit float64) figure {
	f.Limit = &limit
	return f
}

// series are the values of many rounds, by measurement.
type series map[string][]float64

func (s series) add(name string, value float64) { s[name] = append(s[name], value) }

// disturbedMark ends the names of disturbed values.
const disturbedMark = " disturbed"

// addIf adds a value. A disturbed value counts only if all values of that name are disturbed.
func (s series) addIf(undisturbed bool, name string, value float64) {
	if !undisturbed {
		name += disturbedMark
	}
	s.add(name, value)
}

// settled keeps the values that count.
func (s series) settled() series {
	for name, values := range s {
		if of, ok := strings.CutSuffix(name, disturbedMark); ok {
			if len(s[of]) == 0 {
				s[of] = values
			}
			delete(s, name)
		}
	}
	return s
}

// with returns these series and those of more; series of the same name are joined.
func (s series) with(more series) series {
	both := maps.Clone(s)
	for name, values := range more {
		both[name] = slices.Concat(s[name], values)
	}
	return both
}

// after returns the values of a part that count after some of its rounds. The share of disturbed
// probes so far is added.
func (s series) after(part string, calm *steady) series {
	return s.with(series{"disturbed " + part: {calm.share()}}).settled()
}

// middle returns the median over the rounds.
func (s series) middle(name string) float64 { return median(s[name]) }

// ratio returns the median of the ratios of a to b in each round.
func (s series) ratio(a, b string) float64 {
	above, below := s[a], s[b]
	ratios := make([]float64, 0, len(above))
	for i := range min(len(above), len(below)) {
		if below[i] > 0 {
			ratios = append(ratios, above[i]/below[i])
		}
	}
	return median(ratios)
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

// percentile returns the value that so many percent of the values do not exceed.
func percentile(values []float64, of int) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*of+99)/100-1]
}

func mean(values []float64) (of float64) {
	for _, v := range values {
		of += v / float64(len(values))
	}
	return of
}
