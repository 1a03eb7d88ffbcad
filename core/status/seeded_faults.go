//go:build seededfaults

package status

import "github.com/wardlet/wardlet/core/internal/seededfault"

// seeded is where what is made of an observation can be made to be wrong.
type seeded struct{}

// SeededFaults are the names of all faults this package can be made to have, so that a
// test can show that it would find each.
func SeededFaults() []string { return faults.Names() }

// Seed switches a fault on, instead of any other. The empty name switches all off.
func Seed(name string) error { return on.Set(name) }

// on is what is forgotten, empty for nothing.
var on = seededfault.New(faults)

func (seeded) forgets(what string) bool { return on.Fault() == what }

var faults = seededfault.Faults[string]{
	"restarts-what-has-ended": "the restart policy",
	"dead-sandbox-is-good":    "that a sandbox has to be ready",
}
