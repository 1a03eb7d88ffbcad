package gate

import "github.com/wardlet/wardlet/core/api"

// Open is the gate of a node without policies. It admits every pod.
type Open struct{}

// Judge implements mux.Gate.
func (Open) Judge(_ api.Question, answer func(api.Verdict)) { answer(api.Verdict{Answer: api.Allow}) }

// Admitted implements mux.Gate.
func (Open) Admitted(api.Question, api.Verdict) {}

// Changed implements mux.Gate. Open never changes.
func (Open) Changed() <-chan struct{} { return nil }

// NodeChanged implements mux.Gate.
func (Open) NodeChanged() <-chan struct{} { return nil }
