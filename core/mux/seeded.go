//go:build !seededfaults

package mux

// seeded does nothing in an ordinary build; see seeded_faults.go.
type seeded struct{}

func (seeded) delivery(*delivery) {}
func (seeded) outcome(*outcome)   {}
