package main

import (
	"errors"
	"strings"

	"github.com/wardlet/wardlet/plugins/sdk"
)

// image is a reference to an image as a container runtime understands it, with all defaults
// filled in.
type image struct {
	// registry includes the port, if the reference has one.
	registry, path string
	// digest is empty if there is none. tag is empty if there is a digest, because a
	// runtime then ignores the tag.
	tag, digest string
}

const (
	defaultRegistry  = "docker.io"
	defaultNamespace = "library/"
	localhost        = "localhost"
	maxPath          = 255
	maxTag           = 128
)

// parseImage reads [registry/]path[:tag][@digest] as containerd does: "nginx" is
// docker.io/library/nginx:latest. Text that does not follow the grammar of references is an
// error. The ID of an image is an error, too: it would run any image with that ID, from any
// registry. So is a registry with capital letters, because containerd distinguishes
// DOCKER.IO from docker.io.
func parseImage(reference string) (i image, err error) {
	if !i.parsePlain(reference) {
		i, err = parseAny(reference)
	}
	return i, err
}

// parseAny does what parseImage does, for references of every form.
func parseAny(reference string) (image, error) {
	name, digest, hasDigest := strings.Cut(reference, "@")
	if hasDigest && !isDigest(digest) {
		return image{}, errors.New("after the @ must stand a digest, such as sha256 with 64 digits")
	}
	name, tag, hasTag := cutTag(name)
	if hasTag && !isTag(tag) {
		return image{}, errors.New("the tag is malformed")
	}
	if isID(name) {
		return image{}, errors.New("this is the ID of an image, which names no registry")
	}
	registry, path := cutRegistry(name)
	if !isRegistry(registry) {
		return image{}, errors.New("the registry is malformed")
	}
	if toLower(registry) != registry {
		return image{}, errors.New("the registry has capital letters: write it in lower case, for a runtime takes it for another registry as it is")
	}
	i := image{tag: tag, digest: digest}
	i.registry, i.path = canonical(registry, path)
	if len(i.path) > maxPath || !isPath(path) {
		return image{}, errors.New("the path is malformed: it has lower case letters, digits and single . _ - between them")
	}
	switch {
	case hasDigest:
		i.tag = ""
	case !hasTag:
		i.tag = "latest"
	}
	return i, nil
}

// String is the reference in full.
func (i *image) String() string {
	if i.digest != "" {
		return i.registry + "/" + i.path + "@" + i.digest
	}
	return i.registry + "/" + i.path + ":" + i.tag
}

// cutTag splits off the text after the last colon, unless the colon is part of a registry.
func cutTag(name string) (rest, tag string, ok bool) {
	colon := strings.LastIndexByte(name, ':')
	if colon < 0 || strings.IndexByte(name[colon:], '/') >= 0 {
		return name, "", false
	}
	return name[:colon], name[colon+1:], true
}

// cutRegistry splits off the first part of a name if it looks like a host.
func cutRegistry(name string) (registry, path string) {
	first, rest, ok := strings.Cut(name, "/")
	if ok && looksLikeHost(first) {
		return first, rest
	}
	return defaultRegistry, name
}

// looksLikeHost reports whether s looks like a host. Unlike runtimes, it returns false for
// a single word in capitals; such an image is then refused for its path.
func looksLikeHost(s string) bool {
	for i := range len(s) {
		if s[i] == '.' || s[i] == ':' {
			return true
		}
	}
	return len(s) == len(localhost) && only(s, alphanumeric) && toLower(s) == localhost
}

// canonical returns the canonical name of a repository of Docker's registry, which may have
// several names.
func canonical(registry, path string) (canonicalRegistry, canonicalPath string) {
	if registry == "index.docker.io" {
		registry = defaultRegistry
	}
	if registry == defaultRegistry && strings.IndexByte(path, '/') < 0 {
		path = sdk.Concat(defaultNamespace, path)
	}
	return registry, path
}

// isID reports whether a runtime might read a name as the ID of an image. That is a name of
// 64 hexadecimal digits, or a name that is the algorithm of a digest, with the digits in
// place of the tag.
func isID(name string) bool {
	switch name {
	case "sha256", "sha384", "sha512":
		return true
	}
	return len(name) == 64 && only(name, digit|lowerHex)
}
