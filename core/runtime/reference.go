package runtime

import (
	"fmt"
	"regexp"
)

// imageReference is the grammar of image names: an optional registry, a path,
// an optional tag (2) and an optional digest (3).
var imageReference = regexp.MustCompile(`^` +
	`((?:(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[0-9a-fA-F:]+\])(?::[0-9]+)?/)?` +
	`[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*)` +
	`(?::([a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}))?` +
	`(?:@([a-zA-Z][a-zA-Z0-9]*(?:[-_+.][a-zA-Z][a-zA-Z0-9]*)*:[0-9a-fA-F]{32,}))?$`)

// maxImageName is the longest name of an image without tag and digest, in
// bytes.
const maxImageName = 255

// completeImage adds the tag "latest" to a name that has neither tag nor
// digest.
func completeImage(name string) (string, error) {
	parts := imageReference.FindStringSubmatch(name)
	if parts == nil || len(parts[1]) > maxImageName {
		return "", fmt.Errorf("image %q is not a name of the form [registry/]path[:tag][@digest], in lower case", name)
	}
	if parts[2] == "" && parts[3] == "" {
		return name + ":latest", nil
	}
	return name, nil
}
