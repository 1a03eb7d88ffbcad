package main

import "slices"

// figure is one result.
type figure struct {
	// Name names the measurement in kebab case; it does not change.
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	// Unit is the unit of Value and PeerValue: ns, bytes, count or ratio.
	Unit string `json:"unit"`
	// Peer names what the figure is compared with, empty for nothing.
	Peer      string   `json:"peer"`
	PeerValue *float64 `json:"peer_value"`
	// Limit is the limit of Value, null for a figure that is only for information. Bound is the
	// kind of limit: "at most" or "at least".
	Limit *float64 `json:"limit"`
	Bound string   `json:"bound,omitempty"`
	// OK is false if the limit is missed.
	OK bool `json:"ok"`
}

const (
	atMost  = "at most"
	atLeast = "at least"
)

// plain returns a figure without a limit.
func plain(name string, value float64, unit string) figure {
	return figure{Name: name, Value: value, Unit: unit, OK: true}
}

// beside adds the value that the figure is compared with.
func (f figure) beside(peer string, value float64) figure {
	f.Peer, f.PeerValue = peer, &value
	return f
}

// limited adds a limit and checks the figure.
func (f figure) limited(bound string, limit float64) figure {
	f.Limit, f.Bound = &limit, bound
	f.OK = f.Value <= limit
	if bound == atLeast {
		f.OK = f.Value >= limit
	}
	return f
}

// missed returns the names of the figures that miss their limits.
func missed(figures []figure) (names []string) {
	for i := range figures {
		if !figures[i].OK {
			names = append(names, figures[i].Name)
		}
	}
	return names
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
