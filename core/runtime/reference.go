package runtime

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// imageReference is the grammar of image names: an optional registry (1), a
// path (2), an optional tag (3) and an optional digest (4).
var imageReference = regexp.MustCompile(`^` +
	`(?:((?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[0-9a-fA-F:]+\])(?::[0-9]+)?)/)?` +
	`([a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*)` +
	`(?::([a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}))?` +
	`(?:@([^@]*))?$`)

// imageDigest is a digest that a runtime can compare with an image's.
var imageDigest = regexp.MustCompile(`^(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})$`)

// imageID is the ID of an image without its algorithm, which is no name.
var imageID = regexp.MustCompile(`^[0-9a-f]{64}$`)

// maxImagePath is the longest path of an image in its registry, in bytes.
const maxImagePath = 255

// completeImage adds the tag "latest" to a name that has neither tag nor
// digest. It refuses every name that a runtime refuses (reference.ParseNormalizedNamed
// of github.com/distribution/reference): trying such a name again cannot help.
func completeImage(name string) (string, error) {
	parts := imageReference.FindStringSubmatch(name)
	if parts == nil {
		return "", fmt.Errorf("image %q is not a name of the form [registry/]path[:tag][@digest], in lower case", name)
	}
	registry, path, tag, digest := parts[1], parts[2], parts[3], parts[4]
	var fault error
	switch {
	case strings.HasPrefix(registry, "[") && !strings.Contains(registry, ":"):
		fault = errors.New("what stands in brackets must be an IPv6 address")
	case len(pathInRegistry(registry, path)) > maxImagePath:
		fault = fmt.Errorf("its path is longer than %d bytes", maxImagePath)
	case imageID.MatchString(name):
		fault = errors.New("64 hexadecimal digits are the ID of an image, not a name")
	case strings.Contains(name, "@") && !imageDigest.MatchString(digest):
		fault = errors.New("behind the @ must stand sha256: and 64 hexadecimal digits, sha384: and 96, or sha512: and 128, in lower case")
	case tag == "" && digest == "":
		return name + ":latest", nil
	default:
		return name, nil
	}
	return "", fmt.Errorf("image %q: %w", name, fault)
}

// pathInRegistry is the path under which an image lies in its registry. What
// stands before the first slash is part of it where it is no host, and a name of
// one part is one of Docker's library.
func pathInRegistry(registry, path string) string {
	if registry != "" && registry != "localhost" && !strings.ContainsAny(registry, ".:") && strings.ToLower(registry) == registry {
		return registry + "/" + path
	}
	docker := registry == "" || registry == "docker.io" || registry == "index.docker.io"
	if docker && !strings.Contains(path, "/") {
		return "library/" + path
	}
	return path
}
