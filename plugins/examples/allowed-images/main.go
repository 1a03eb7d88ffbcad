// Command allowed-images is a policy plugin: a pod may only run images from registries and
// repositories that its policy document lists. README.md explains the settings.
//
// Comes in: the settings, once, and of each pod the names and images of its
// containers and image volumes. Goes out: allow or deny, with an explanation.
// It runs on the one goroutine of the agent's call.
package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
	"github.com/wardlet/wardlet/plugins/sdk/settings"
)

// images are the fields of a pod that name images.
var images = [...]struct {
	what          string
	names, images *sdk.Field
	// some: elements without an image are ignored.
	some bool
}{
	{"container", sdk.Object("spec.@containers[*].name"), sdk.Object("spec.@containers[*].image"), false},
	{"volume", sdk.Object("spec.volumes[*].name"), sdk.Object("spec.volumes[*].image.reference"), true},
}

func init() { admit.Register(setup) }

func setup() (admit.Policy, error) {
	if err := settings.Only("allow", "require_digest"); err != nil {
		return nil, err
	}
	allow, _ := sdk.StringsSetting("allow")
	requireDigest, _ := sdk.BoolSetting("require_digest")
	p, err := newPolicy(allow, requireDigest)
	if err != nil {
		return nil, err
	}
	return p.judge, nil
}

func main() {}
