// Command allowed-images is a policy plugin: a pod may only run images from
// registries and repositories that its policy document lists. README.md tells
// what the settings mean.
//
// Comes in: the settings, once, and of each pod the names and images of its
// containers and image volumes. Goes out: allow or deny, with an explanation.
// It runs on the one goroutine of the agent's call.
package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
)

// What of a pod names an image: all containers, and volumes made of images.
var (
	containerNames  = sdk.Object("spec.@containers[*].name")
	containerImages = sdk.Object("spec.@containers[*].image")
	volumeNames     = sdk.Object("spec.volumes[*].name")
	volumeImages    = sdk.Object("spec.volumes[*].image.reference")
)

func init() { admit.Register(setup) }

func setup() (admit.Policy, error) {
	allow, _ := sdk.StringsSetting("allow")
	requireDigest, _ := sdk.BoolSetting("require_digest")
	p, err := newPolicy(allow, requireDigest)
	if err != nil {
		return nil, err
	}
	return p.judge, nil
}

func main() {}
