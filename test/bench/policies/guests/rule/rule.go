package rule

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
	"github.com/wardlet/wardlet/plugins/sdk/str"
)

// The labels that a pod must have.
const (
	Name = "app.kubernetes.io/name"
	Team = "team"
)

// registry is the prefix of every allowed image.
const registry = "registry.example/"

// variant can be overwritten in the module, to make different modules that do the same.
const variant = " (variant 0000)"

// Image reports whether an image comes from the registry, and has a digest or
// a tag other than latest. The registry has no port, so a colon begins a tag.
func Image(image string) bool {
	return str.HasPrefix(image, registry) &&
		(str.HasByte(image, '@') || str.HasByte(image, ':') && !str.HasSuffix(image, ":latest"))
}

// Unlabelled denies a pod without one of the labels.
func Unlabelled() admit.Verdict {
	return admit.Deny("LabelMissing", "the labels "+Name+" and "+Team+" must be set"+variant)
}

// Foreign denies a pod for an image.
func Foreign(image string) admit.Verdict {
	return admit.Deny("ImageNotAllowed", sdk.Concat("image ", image, " is not allowed: want ", registry, " with a digest or a tag"))
}

// Unconfined denies a pod with a container that could become root.
func Unconfined() admit.Verdict {
	return admit.Deny("NotConfined", "a container is privileged, or may become it, or may run as root")
}
