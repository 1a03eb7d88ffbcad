//go:build !seededfaults

package simulation

// seededForeign is false in an ordinary build; see seeded_faults.go.
func seededForeign() bool { return false }
