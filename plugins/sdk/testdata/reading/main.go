// Command reading is a plugin that goes through lists in each way there is. A
// test looks at what its compiler says of the loops.
//
// Comes in: one pod. Goes out: allow. It runs on the one goroutine of the
// agent's call.
package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
)

var (
	names  = sdk.Object("spec.containers[*].name")
	images = sdk.Object("spec.containers[*].image")
	labels = sdk.Object("metadata.labels")
)

func init() { admit.Register(setup) }

func setup() (admit.Policy, error) { return judge, nil }

func judge() admit.Verdict {
	for image := range images.Strings() {
		if image == "" {
			return admit.Abstain()
		}
	}
	for image := range images.AllStrings() {
		if image == "" {
			return admit.Abstain()
		}
	}
	for name := range names.Elements() {
		if !name.Exists() {
			return admit.Abstain()
		}
	}
	for name, image := range sdk.Zip(names, images) {
		if name == image {
			return admit.Abstain()
		}
	}
	for key, value := range labels.Map() {
		if key == value {
			return admit.Abstain()
		}
	}
	return admit.Allow()
}

func main() {}
