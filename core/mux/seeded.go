//go:build !seededfaults

package mux

import "github.com/wardlet/wardlet/core/pod"

// seeded does nothing in an ordinary build; see seeded_faults.go.
type seeded struct{}

func (seeded) delivery(*delivery) {}
func (seeded) outcome(*outcome)   {}

func (seeded) verdict(v pod.Verdict) pod.Verdict { return v }
