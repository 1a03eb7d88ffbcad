package pod

import (
	"regexp"
	"strings"

	v1 "k8s.io/api/core/v1"
)

var (
	// An image's name as registries and runtimes read it: a host that has a
	// slash after it, a path of lower-case words, a tag, a digest.
	imageName = regexp.MustCompile(`^(?:(` + imageHost + `)/)?(` + imageWord + `(?:/` + imageWord + `)*)(?::(\w[\w.-]{0,127}))?(?:@(.+))?$`)

	imageDigest = regexp.MustCompile(`^(?:sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128})$`)

	// imageID is an image of this node by the digest of its configuration.
	imageID = regexp.MustCompile(`^[a-f0-9]{64}$`)
)

const (
	imageLabel = `[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?`
	imageHost  = `(?:` + imageLabel + `(?:\.` + imageLabel + `)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?`
	imageWord  = `[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*`
	// maxImagePath is the greatest length of the path, in bytes.
	maxImagePath = 255
)

// pullPolicy is the default: Always for an image that may change under its
// name, which is one with the tag latest, or with neither tag nor digest. What
// is no name in a registry, as an image's ID, cannot be pulled.
func pullPolicy(image string) v1.PullPolicy {
	m := imageName.FindStringSubmatch(image)
	if m == nil || imageID.MatchString(image) || len(imagePath(m[1], m[2])) > maxImagePath {
		return v1.PullIfNotPresent
	}
	tag, digest := m[3], m[4]
	switch {
	case digest != "" && !imageDigest.MatchString(digest):
		return v1.PullIfNotPresent
	case tag == "latest", tag == "" && digest == "":
		return v1.PullAlways
	}
	return v1.PullIfNotPresent
}

// imagePath is the path in its registry: what stands first is a host only if
// it looks like one, and the default registry has a library.
func imagePath(host, path string) string {
	switch {
	case host == "" && !strings.Contains(path, "/"):
		return "library/" + path
	case host == "" || host == "localhost" || strings.ContainsAny(host, ".:") || host != strings.ToLower(host):
		return path
	default:
		return host + "/" + path
	}
}
