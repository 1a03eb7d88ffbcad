package gate

import "github.com/wardlet/wardlet/core/mux"

// Layer returns a gate before next that may change the answers of next.
type Layer func(next mux.Gate) mux.Gate

// Through puts the layers before the gate first. Answers of first pass the layers in their order.
// The mux asks the last layer.
func Through(first mux.Gate, layers ...Layer) mux.Gate {
	for _, layer := range layers {
		first = layer(first)
	}
	return first
}
