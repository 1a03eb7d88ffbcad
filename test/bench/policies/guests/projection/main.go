// Command projection is the rule over fields that the agent writes before each
// call.
//
// Comes in: fields of one pod. Goes out: allow or deny. It runs on the one
// goroutine of the agent's call.
package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
	"github.com/wardlet/wardlet/test/bench/policies/guests/rule"
)

var (
	name       = sdk.Object("metadata.labels['" + rule.Name + "']")
	team       = sdk.Object("metadata.labels['" + rule.Team + "']")
	images     = sdk.Object("spec.@containers[*].image")
	privileged = sdk.Object("spec.@containers[*].securityContext.privileged")
	escalation = sdk.Object("spec.@containers[*].securityContext.allowPrivilegeEscalation")
	nonRoot    = sdk.Object("spec.@containers[*].securityContext.runAsNonRoot")
)

func init() {
	admit.Register(func() (admit.Policy, error) { return judge, nil })
}

func judge() admit.Verdict {
	if !name.Exists() || !team.Exists() {
		return rule.Unlabelled()
	}
	for image := range images.AllStrings() {
		if !rule.Image(image) {
			return rule.Foreign(image)
		}
	}
	if privileged.AnyTrue() || escalation.AnyTrue() || !nonRoot.AllTrue() {
		return rule.Unconfined()
	}
	return admit.Allow()
}

func main() {}
