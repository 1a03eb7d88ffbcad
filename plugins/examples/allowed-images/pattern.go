package main

import (
	"errors"
	"strings"

	"github.com/wardlet/wardlet/plugins/sdk/glob"
)

// pattern matches images that are allowed.
type pattern struct {
	// text is the pattern as it was written.
	text string
	// registry is a host in lower case, "*" for any host, or "*." and the end of a host.
	// path and tag are globs. If tag or digest is empty, it matches any.
	registry, path, tag, digest string
	// prefix is set if the pattern matches exactly those plain references (see parsePlain)
	// that begin with prefix.
	prefix string
	// said is the explanation for an image that matches the pattern.
	said string
}

// parsePattern parses registry/path[:tag] or registry/path@digest.
func parsePattern(text string) (pattern, error) {
	name, digest, hasDigest := strings.Cut(text, "@")
	if hasDigest && !isDigest(digest) {
		return pattern{}, errors.New("after the @ must stand a whole digest, such as sha256 with 64 digits")
	}
	name, tag, hasTag := cutTag(name)
	switch {
	case hasTag && hasDigest:
		return pattern{}, errors.New("give a tag or a digest: beside a digest a tag means nothing")
	case hasTag && (tag == "" || !only(starless(tag), alphanumeric|dash|mark)):
		return pattern{}, errors.New("no tag can match what follows the last colon")
	}
	registry, path, ok := strings.Cut(name, "/")
	if !ok || registry != "*" && !looksLikeHost(registry) {
		return pattern{}, errors.New(`name the registry: "docker.io/library/nginx", "registry.example/*", or "*/*" for every image`)
	}
	registry = toLower(registry)
	if host, ends := strings.CutPrefix(registry, "*."); registry != "*" && (!ends && !isRegistry(registry) || ends && !isRegistry(host)) {
		return pattern{}, errors.New(`the registry must be a host such as "registry.example:5000"; a * may stand for all of it, or for its beginning as in "*.registry.example"`)
	}
	if !isPath(starless(path)) {
		return pattern{}, errors.New("no image can match this path: a path has lower case letters, digits and single . _ - / between them")
	}
	p := pattern{text: text, tag: tag, digest: digest, said: `" is allowed by "` + text + `"`}
	p.registry, p.path = registry, path
	if !strings.Contains(path, "*") {
		p.registry, p.path = canonical(registry, path)
	} else if registry == "index.docker.io" {
		p.registry = defaultRegistry
	}
	if path == "*" && !hasTag && !hasDigest && p.registry != defaultRegistry && isHostName(p.registry) && strings.Contains(p.registry, ".") {
		p.prefix = p.registry + "/"
	}
	return p, nil
}

// starless returns a glob with each star replaced by a letter, which is allowed wherever a
// star is.
func starless(glob string) string {
	b := []byte(glob)
	for i := range b {
		if b[i] == '*' {
			b[i] = 'x'
		}
	}
	return string(b)
}

func (p *pattern) matches(i *image) bool {
	return p.matchesRegistry(i.registry) && (p.path == "*" || glob.Match(p.path, i.path)) &&
		(p.digest == "" || p.digest == i.digest) &&
		(p.tag == "" || i.digest == "" && glob.Match(p.tag, i.tag))
}

func (p *pattern) matchesRegistry(registry string) bool {
	if p.registry[0] == '*' {
		return strings.HasSuffix(registry, p.registry[1:])
	}
	return registry == p.registry
}
