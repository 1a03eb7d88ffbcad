package status

import "github.com/wardlet/wardlet/test/mutants"

// on is what is forgotten, empty for nothing.
var on = mutants.Register("status", faults)

func forgets(what string) bool { return on.Fault() == what }

var faults = map[string]string{
	"restarts-what-has-ended": "the restart policy",
	"readiness-forgotten":     "what probes have found",
	"dead-sandbox-is-good":    "that a sandbox has to be ready",
}
