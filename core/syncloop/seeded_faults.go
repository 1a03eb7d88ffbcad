//go:build seededfaults

package syncloop

import "github.com/wardlet/wardlet/core/internal/seededfault"

// seeded is where a loop can be made to be wrong.
type seeded struct{}

// SeededFaults are the names of all faults a loop can be made to have, so that a
// test can show that it would find each.
func SeededFaults() []string { return faults.Names() }

// Seed switches a fault on, instead of any other. The empty name switches all off.
func Seed(name string) error { return on.Set(name) }

// on is what is forgotten, empty for nothing.
var on = seededfault.New(faults)

func (seeded) forgets(what string) bool { return on.Fault() == what }

var faults = seededfault.Faults[string]{
	"clean-up-before-source-seen": "a source has to be heard first",
	"refused-pod-starts":          "policy has refused the pod",
	"event-ignored":               "the runtime tells of something",
	"due-ignored":                 "a pod is due",
	"missing-worker-not-made":     "a pod has no worker",
	"stray-stays":                 "a pod runs for nobody",
}
