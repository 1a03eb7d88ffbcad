// Command pinned-objects is a policy plugin: if the policy document lists a digest for a
// ConfigMap or Secret that a pod names, the object must have that digest. README.md
// explains the settings.
//
// Comes in: the settings, once, and for each pod its namespace and facts about the objects
// that it names, but never the values in these objects. Goes out: allow, deny, or hold. It
// runs on the one goroutine of the agent's call.
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
