// The grammar of references to images, as github.com/distribution/reference has it.

#ifndef GRAMMAR_H
#define GRAMMAR_H

#include "wardlet.h"

// Characters are told apart by class; a set is several of them.
enum { DIGIT = 1, LOWER = 2, UPPER = 4, HEX = 8, DOT = 16, DASH = 32, UNDERSCORE = 64, STAR = 128, COLON = 256, HEX_UPPER = 512 };

// only reports whether all of a text are characters of a set.
bool only(wardlet_text t, int set);

bool is_tag(wardlet_text t);

bool is_digest(wardlet_text t);

// is_registry wants a host name or an address, and perhaps a port.
bool is_registry(wardlet_text t);

// is_path wants parts between slashes. Where stars is set, a * counts as a letter.
bool is_path(wardlet_text t, bool stars);

#endif
