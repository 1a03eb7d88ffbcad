package main

import (
	"errors"
	"strings"

	"github.com/wardlet/wardlet/plugins/sdk/glob"
)

// pattern lets images pass.
type pattern struct {
	// text is the pattern as it was written.
	text string
	// registry is a host in lower case, "*" for any, or "*." and the end of
	// one. Path and tag are globs; tag and digest are empty where any will do.
	registry, path, tag, digest string
}

// parsePattern reads registry/path[:tag] or registry/path@digest.
func parsePattern(text string) (pattern, error) {
	name, digest, hasDigest := strings.Cut(text, "@")
	if hasDigest && !isDigest(digest) {
		return pattern{}, errors.New("after the @ must stand a whole digest, such as sha256 with 64 digits")
	}
	name, tag, hasTag := cutTag(name)
	switch {
	case hasTag && hasDigest:
		return pattern{}, errors.New("give a tag or a digest: beside a digest a tag means nothing")
	case hasTag && (tag == "" || !only(tag, digits+lower+upper+"_.-*")):
		return pattern{}, errors.New("no tag can match what follows the last colon")
	}
	registry, path, ok := strings.Cut(name, "/")
	if !ok || registry != "*" && !looksLikeHost(registry) {
		return pattern{}, errors.New(`name the registry: "docker.io/library/nginx", "registry.example/*", or "*/*" for every image`)
	}
	registry = strings.ToLower(registry)
	if host, ends := strings.CutPrefix(registry, "*."); registry != "*" && (!ends && !isRegistry(registry) || ends && !isRegistry(host)) {
		return pattern{}, errors.New(`the registry must be a host such as "registry.example:5000"; a * may stand for all of it, or for its beginning as in "*.registry.example"`)
	}
	if path == "" || !only(path, digits+lower+"._-/*") || !isPath(strings.ReplaceAll(path, "*", "x")) {
		return pattern{}, errors.New("no image can match this path: a path has lower case letters, digits and single . _ - / between them")
	}
	p := pattern{text: text, tag: tag, digest: digest}
	p.registry, p.path = registry, path
	if !strings.Contains(path, "*") {
		p.registry, p.path = canonical(registry, path)
	} else if registry == "index.docker.io" {
		p.registry = defaultRegistry
	}
	return p, nil
}

func (p *pattern) matches(i *image) bool {
	return p.matchesRegistry(i.registry) && glob.Match(p.path, i.path) &&
		(p.digest == "" || p.digest == i.digest) &&
		(p.tag == "" || i.digest == "" && glob.Match(p.tag, i.tag))
}

func (p *pattern) matchesRegistry(registry string) bool {
	if end, ok := strings.CutPrefix(p.registry, "*"); ok {
		return strings.HasSuffix(registry, end)
	}
	return registry == p.registry
}
