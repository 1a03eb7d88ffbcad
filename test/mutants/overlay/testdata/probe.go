package probe

import "github.com/wardlet/wardlet/test/mutants"

// on is what is forgotten, empty for nothing.
var on = mutants.Register("probe", faults)

func forgets(what string) bool { return on.Fault() == what }

var faults = map[string]string{
	"threshold-ignored":      "one result is not enough",
	"probed-before-started":  "a container has to start first",
	"final-for-the-next-too": "another container is another",
	"worker-not-woken":       "a worker has to act",
}
