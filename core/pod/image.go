package pod

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	v1 "k8s.io/api/core/v1"
)

var (
	// imageName is the grammar of image names as registries and runtimes read them: a host followed
	// by a slash (1), a path of words in lower case (2), a tag (3), a digest (4).
	imageName = regexp.MustCompile(`^(?:(` + imageHost + `)/)?(` + imageWord + `(?:/` + imageWord + `)*)(?::(\w[\w.-]{0,127}))?(?:@([^@]*))?$`)

	// imageDigest is a digest that a runtime can compare with that of an image.
	imageDigest = regexp.MustCompile(`^(?:sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128})$`)

	// imageID is the ID of an image on this node, which is the digest of its configuration.
	imageID = regexp.MustCompile(`^[a-f0-9]{64}$`)
)

const (
	imageLabel = `[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?`
	imageHost  = `(?:` + imageLabel + `(?:\.` + imageLabel + `)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?`
	imageWord  = `[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*`
	// maxImagePath is the maximum length of the path in its registry, in bytes.
	maxImagePath = 255
)

// CompleteImage adds the tag "latest" to an image name that has neither tag nor digest. It returns
// an error for every name that a runtime refuses (reference.ParseNormalizedNamed of
// github.com/distribution/reference), because to try such a name again cannot help.
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
	// ID is the runtime's ID of the image, the digest of its configuration.
	ID string
	// Names are the digests and tags by which the image can be requested; there may be none.
	Names []string
	// Pinned images must not be removed.
	Pinned bool
	// SizeBytes is the size of the image as the runtime reports it.
	SizeBytes int64
}

// RegistryAuth is a credential for a registry. The zero value means no credential.
type RegistryAuth struct{ Username, Password string }

// ImageRepository returns the registry and the path of an image name, as a runtime reads them:
// "docker.io/library/nginx" for "nginx:1". Registry names are case-sensitive: only "docker.io" and
// "index.docker.io" in lower case are Docker Hub.
func ImageRepository(name string) (string, error) {
	if _, _, err := parseImage(name); err != nil {
		return "", err
	}
	m := imageName.FindStringSubmatch(name)
	host, path := m[1], m[2]
	if first, _, slash := strings.Cut(path, "/"); host == "" && slash && strings.Contains(first, ".") {
		return path, nil // a registry name with an underscore: not a host, and not Docker Hub
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

// defaultRegistry is the registry of image names without a registry.
const defaultRegistry = "docker.io"

// parseImage returns the tag and the digest of an image name, "" if it has none.
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

// PullPolicy returns the default pull policy: Always for an image that may change under its name,
// which has the tag latest, or neither tag nor digest. Otherwise it is IfNotPresent, also for an
// image ID, which is not a name in a registry and cannot be pulled.
func PullPolicy(image string) v1.PullPolicy {
	tag, digest, err := parseImage(image)
	if err == nil && (tag == "latest" || tag == "" && digest == "") {
		return v1.PullAlways
	}
	return v1.PullIfNotPresent
}

// imagePath returns the path in its registry. The first element is a host only if it looks like
// one, and short names in the default registry are in its library.
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
