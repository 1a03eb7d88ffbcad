package gate

import "github.com/wardlet/wardlet/core/mux"

// Layer puts a gate before next, which may change the answers of next.
type Layer func(next mux.Gate) mux.Gate

// Through returns a gate that asks first and whose answers pass the layers in their
// order: the last of them is what the mux asks.
func Through(first mux.Gate, layers ...Layer) mux.Gate {
	for _, layer := range layers {
		first = layer(first)
	}
	return first
}
