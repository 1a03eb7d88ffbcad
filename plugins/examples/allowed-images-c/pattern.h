// Patterns let images pass.

#ifndef PATTERN_H
#define PATTERN_H

#include "image.h"

typedef struct {
	// text is the pattern as it was written.
	wardlet_text text;
	// registry is a host in lower case, "*" for any, or "*." and the end of one. Path and tag are globs; tag and digest are
	// empty where any will do.
	wardlet_text registry, path, tag, digest;
} pattern;

// parse_pattern reads registry/path[:tag] or registry/path@digest. It gives NULL, or what is wrong.
const char *parse_pattern(wardlet_text text, pattern *p);

bool pattern_matches(const pattern *p, const image *i);

#endif
