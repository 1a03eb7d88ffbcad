package main

import "slices"

// figure is one result.
type figure struct {
	// Name says what was measured, in kebab case; it does not change.
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	// Unit is that of Value and PeerValue: ns, bytes, count or ratio.
	Unit string `json:"unit"`
	// Peer is what it is measured beside, empty for none.
	Peer      string   `json:"peer"`
	PeerValue *float64 `json:"peer_value"`
	// Limit is what Value may be, null for a figure that is for information.
	// Bound says which way: "at most" or "at least".
	Limit *float64 `json:"limit"`
	Bound string   `json:"bound,omitempty"`
	// OK is false where the limit is missed.
	OK bool `json:"ok"`
}

const (
	atMost  = "at most"
	atLeast = "at least"
)

// plain is a figure without a limit.
func plain(name string, value float64, unit string) figure {
	return figure{Name: name, Value: value, Unit: unit, OK: true}
}

// beside adds what the figure is measured beside.
func (f figure) beside(peer string, value float64) figure {
	f.Peer, f.PeerValue = peer, &value
	return f
}

// limited adds a limit and judges the figure.
func (f figure) limited(bound string, limit float64) figure {
	f.Limit, f.Bound = &limit, bound
	f.OK = f.Value <= limit
	if bound == atLeast {
		f.OK = f.Value >= limit
	}
	return f
}

// missed are the names of the figures that miss their limits.
func missed(figures []figure) (names []string) {
	for i := range figures {
		if !figures[i].OK {
			names = append(names, figures[i].Name)
		}
	}
	return names
}

// median is the middle of the values, of two middles the mean.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[n/2] + sorted[(n-1)/2]) / 2
}
