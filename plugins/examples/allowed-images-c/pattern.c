#include "pattern.h"

#include "grammar.h"

// is_registry_pattern wants a registry, a star, or a star in front of a registry's dot.
static bool is_registry_pattern(wardlet_text t) {
	if (wardlet_is(t, "*")) {
		return true;
	}
	return is_registry(wardlet_starts(t, WARDLET_TEXT("*.")) ? wardlet_slice(t, 2, t.len) : t);
}

const char *parse_pattern(wardlet_text text, pattern *p) {
	wardlet_text name, tag, digest, registry, path;
	bool has_digest = wardlet_cut(text, '@', &name, &digest);
	if (has_digest && !is_digest(digest)) {
		return "after the @ must stand a whole digest, such as sha256 with 64 digits";
	}
	bool has_tag = cut_tag(&name, &tag);
	if (has_tag && has_digest) {
		return "give a tag or a digest: beside a digest a tag means nothing";
	}
	if (has_tag && (tag.len == 0 || !only(tag, DIGIT | LOWER | UPPER | UNDERSCORE | DOT | DASH | STAR))) {
		return "no tag can match what follows the last colon";
	}
	if (!wardlet_cut(name, '/', &registry, &path) || (!wardlet_is(registry, "*") && !looks_like_host(registry))) {
		return "name the registry: \"docker.io/library/nginx\", \"registry.example/*\", or \"*/*\" for every image";
	}
	registry = lower_case(registry);
	if (!is_registry_pattern(registry)) {
		return "the registry must be a host such as \"registry.example:5000\"; a * may stand for all of it, or for its beginning as in "
			"\"*.registry.example\"";
	}
	if (!is_path(path, true)) {
		return "no image can match this path: a path has lower case letters, digits and single . _ - / between them";
	}
	*p = (pattern){text, registry, path, tag, digest};
	if (wardlet_find_char(path, '*') == WARDLET_NONE) {
		canonical(&p->registry, &p->path);
	} else if (wardlet_is(registry, "index.docker.io")) {
		p->registry = wardlet_c(default_registry);
	}
	return NULL;
}

static bool matches_registry(const pattern *p, wardlet_text registry) {
	if (wardlet_starts(p->registry, WARDLET_TEXT("*"))) {
		return wardlet_ends(registry, wardlet_slice(p->registry, 1, p->registry.len));
	}
	return wardlet_equal(registry, p->registry);
}

bool pattern_matches(const pattern *p, const image *i) {
	return matches_registry(p, i->registry) && wardlet_glob(p->path, i->path) && (p->digest.len == 0 || wardlet_equal(p->digest, i->digest)) &&
		(p->tag.len == 0 || (i->digest.len == 0 && wardlet_glob(p->tag, i->tag)));
}
