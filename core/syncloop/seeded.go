//go:build !seededfaults

package syncloop

// seeded does nothing in an ordinary build; see seeded_faults.go.
type seeded struct{}

func (seeded) forgets(string) bool { return false }
