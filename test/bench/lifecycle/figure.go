package main

// figure is one result, as test/bench reads it.
type figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	// Unit is that of Value and PeerValue: ns, bytes, count or ratio.
	Unit      string   `json:"unit"`
	Peer      string   `json:"peer"`
	PeerValue *float64 `json:"peer_value"`
	// Limit is what Value may be at most, null for a figure that is for
	// information.
	Limit *float64 `json:"limit"`
}

func plain(name string, value float64, unit string) figure {
	return figure{Name: name, Value: value, Unit: unit}
}

// beside adds what the figure is measured beside.
func (f figure) beside(peer string, value float64) figure {
	f.Peer, f.PeerValue = peer, &value
	return f
}

func (f figure) atMost(limit float64) figure {
	f.Limit = &limit
	return f
}
