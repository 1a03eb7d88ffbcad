// Command pinned-objects is a policy plugin: a ConfigMap or Secret that a pod
// names must be the one that the policy document pins by its digest. README.md
// tells what the settings mean.
//
// Comes in: the settings, once, and of each pod its namespace and what is known
// of the objects that it names, which are never their values. Goes out: allow,
// deny, or hold. It runs on the one goroutine of the agent's call.
package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
	"github.com/wardlet/wardlet/plugins/sdk/settings"
)

var (
	namespace = sdk.Object("metadata.namespace")
	kinds     = sdk.References("kind")
	names     = sdk.References("name")
	digests   = sdk.References("digest")
)

func init() { admit.Register(setup) }

func setup() (admit.Policy, error) {
	if err := settings.Only("pins", "others"); err != nil {
		return nil, err
	}
	pins, _ := sdk.MapSetting("pins")
	others, set := sdk.StringSetting("others")
	if !set {
		others = othersAllow
	}
	p, err := newPolicy(pins, others)
	if err != nil {
		return nil, err
	}
	return p.judge, nil
}

func main() {}
