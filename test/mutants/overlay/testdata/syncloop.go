package syncloop

import "github.com/wardlet/wardlet/test/mutants"

// on is what is forgotten, empty for nothing.
var on = mutants.Register("syncloop", faults)

func forgets(what string) bool { return on.Fault() == what }

var faults = map[string]string{
	"clean-up-before-source-seen": "a source has to be heard first",
	"refused-pod-starts":          "policy has refused the pod",
	"event-ignored":               "the runtime tells of something",
	"due-ignored":                 "a pod is due",
	"missing-worker-not-made":     "a pod has no worker",
	"stray-stays":                 "a pod runs for nobody",
}
