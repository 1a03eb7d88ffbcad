package pod

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	v1 "k8s.io/api/core/v1"
)

var (
	// imageName is the grammar of the names of images as registries and runtimes read
	// them: a host that has a slash after it (1), a path of words in lower case (2), a
	// tag (3), a digest (4).
	imageName = regexp.MustCompile(`^(?:(` + imageHost + `)/)?(` + imageWord + `(?:/` + imageWord + `)*)(?::(\w[\w.-]{0,127}))?(?:@([^@]*))?$`)

	// imageDigest is a digest that a runtime can compare with an image's.
	imageDigest = regexp.MustCompile(`^(?:sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128})$`)

	// imageID is an image of this node by the digest of its configuration.
	imageID = regexp.MustCompile(`^[a-f0-9]{64}$`)
)

const (
	imageLabel = `[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?`
	imageHost  = `(?:` + imageLabel + `(?:\.` + imageLabel + `)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?`
	imageWord  = `[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*`
	// maxImagePath is the greatest length of the path in its registry, in bytes.
	maxImagePath = 255
)

// CompleteImage adds the tag "latest" to the name of an image that has neither tag
// nor digest. It refuses every name that a runtime refuses
// (reference.ParseNormalizedNamed of github.com/distribution/reference): trying such a
// name again cannot help.
func CompleteImage(name string) (string, error) {
	tag, digest, err := parseImage(name)
	switch {
	case err != nil:
		return "", err
	case tag == "" && digest == "":
		return name + ":latest", nil
	}
	return name, nil
}

// Image is an image that is present on the node.
type Image struct {
	// ID is the runtime's, the digest of its configuration.
	ID string
	// SizeBytes is what it takes, as the runtime counts it.
	SizeBytes int64
}

// RegistryAuth is a credential for a registry. The zero value is none.
type RegistryAuth struct{ Username, Password string }

// ImageRepository returns the registry and the path in it of the name of an image, as a runtime reads them:
// "docker.io/library/nginx" of "nginx:1". A registry keeps the case of its letters: only "docker.io" and
// "index.docker.io" in lower case are Docker Hub.
func ImageRepository(name string) (string, error) {
	if _, _, err := parseImage(name); err != nil {
		return "", err
	}
	m := imageName.FindStringSubmatch(name)
	host, path := m[1], m[2]
	if first, _, slash := strings.Cut(path, "/"); host == "" && slash && strings.Contains(first, ".") {
		return path, nil // a registry with an underscore: no host, and not Docker Hub
	}
	switch whole := imagePath(host, path); {
	case host == "" || host == "docker.io" || host == "index.docker.io":
		return defaultRegistry + "/" + whole, nil
	case whole != path: // what looked like a host is the beginning of the path
		return defaultRegistry + "/" + whole, nil
	default:
		return host + "/" + path, nil
	}
}

// defaultRegistry has the images of names without a registry.
const defaultRegistry = "docker.io"

// parseImage returns the tag and the digest of the name of an image, "" for none.
func parseImage(name string) (tag, digest string, err error) {
	m := imageName.FindStringSubmatch(name)
	if m == nil {
		return "", "", fmt.Errorf("image %q is not a name of the form [registry/]path[:tag][@digest], in lower case", name)
	}
	host, path, tag, digest := m[1], m[2], m[3], m[4]
	switch {
	case strings.HasPrefix(host, "[") && !strings.Contains(host, ":"):
		err = errors.New("the part in brackets must be an IPv6 address")
	case len(imagePath(host, path)) > maxImagePath:
		err = fmt.Errorf("its path is longer than %d bytes", maxImagePath)
	case imageID.MatchString(name):
		err = errors.New("64 hexadecimal digits are the ID of an image, not a name")
	case strings.Contains(name, "@") && !imageDigest.MatchString(digest):
		err = errors.New("after the @ must come sha256: and 64 hexadecimal digits, sha384: and 96, or sha512: and 128, in lower case")
	}
	if err != nil {
		return "", "", fmt.Errorf("image %q: %w", name, err)
	}
	return tag, digest, nil
}

// PullPolicy is the default: Always for an image that may change under its
// name, which is one with the tag latest, or with neither tag nor digest. What
// is no name in a registry, as an image's ID, cannot be pulled.
func PullPolicy(image string) v1.PullPolicy {
	tag, digest, err := parseImage(image)
	if err == nil && (tag == "latest" || tag == "" && digest == "") {
		return v1.PullAlways
	}
	return v1.PullIfNotPresent
}

// imagePath is the path in its registry: what stands first is a host only if
// it looks like one, and the default registry has a library.
func imagePath(host, path string) string {
	if host != "" && host != "localhost" && !strings.ContainsAny(host, ".:") && host == strings.ToLower(host) {
		return host + "/" + path
	}
	docker := host == "" || host == "docker.io" || host == "index.docker.io"
	if docker && !strings.Contains(path, "/") {
		return "library/" + path
	}
	return path
}
