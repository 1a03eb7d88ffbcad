// Command required-labels is a policy plugin: a pod must have the labels that its policy
// document lists, with values that match. README.md explains the settings.
//
// Comes in: the settings, once, and the labels of each pod. Goes out: allow, or else deny
// or hold, as the settings say. It runs on the one goroutine of the agent's call.
package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
	"github.com/wardlet/wardlet/plugins/sdk/settings"
)

var labels = sdk.Object("metadata.labels")

func init() { admit.Register(setup) }

func setup() (admit.Policy, error) {
	if err := settings.Only("required", "patterns", "effect"); err != nil {
		return nil, err
	}
	required, _ := sdk.StringsSetting("required")
	patterns, _ := sdk.MapSetting("patterns")
	effect, set := sdk.StringSetting("effect")
	if !set {
		effect = effectDeny
	}
	p, err := newPolicy(required, patterns, effect)
	if err != nil {
		return nil, err
	}
	return p.judge, nil
}

func main() {}
