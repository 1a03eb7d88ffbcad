//go:build !seededfaults

package worker

import "time"

// seeded does nothing in an ordinary build; see seeded_faults.go.
type seeded struct{}

func (seeded) grace(_, seconds int64) int64              { return seconds }
func (seeded) acted(t time.Time) time.Time               { return t }
func (seeded) stops(all []StopContainer) []StopContainer { return all }
func (seeded) delay(d time.Duration) time.Duration       { return d }
func (seeded) forgets(string) bool                       { return false }
