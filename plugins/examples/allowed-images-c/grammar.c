#include "grammar.h"

#define MAX_TAG 128

// classes are those that each character is in.
static const unsigned short classes[256] = {
	['0' ... '9'] = DIGIT,
	['a' ... 'f'] = LOWER | HEX,
	['g' ... 'z'] = LOWER,
	['A' ... 'F'] = UPPER | HEX_UPPER,
	['G' ... 'Z'] = UPPER,
	['.'] = DOT,
	['-'] = DASH,
	['_'] = UNDERSCORE,
	['*'] = STAR,
	[':'] = COLON,
};

// run is how many characters of a set a text begins with.
static size_t run(wardlet_text t, int set) {
	size_t n = 0;
	while (n < t.len && (classes[(unsigned char)t.at[n]] & set) != 0) {
		n++;
	}
	return n;
}

bool only(wardlet_text t, int set) { return run(t, set) == t.len; }

bool is_tag(wardlet_text t) {
	return t.len > 0 && t.len <= MAX_TAG && t.at[0] != '.' && t.at[0] != '-' && only(t, DIGIT | LOWER | UPPER | UNDERSCORE | DOT | DASH);
}

bool is_digest(wardlet_text t) {
	wardlet_text algorithm, hex;
	size_t length = 0;
	wardlet_cut(t, ':', &algorithm, &hex);
	if (wardlet_is(algorithm, "sha256")) {
		length = 64;
	} else if (wardlet_is(algorithm, "sha384")) {
		length = 96;
	} else if (wardlet_is(algorithm, "sha512")) {
		length = 128;
	}
	return length > 0 && hex.len == length && only(hex, DIGIT | HEX);
}

static bool is_label(wardlet_text t) {
	return t.len > 0 && t.at[0] != '-' && t.at[t.len - 1] != '-' && only(t, DIGIT | LOWER | UPPER | DASH);
}

bool is_registry(wardlet_text t) {
	wardlet_text host = t;
	size_t colon = wardlet_find_last(t, ':');
	if (colon != WARDLET_NONE && wardlet_find_char(wardlet_slice(t, colon, t.len), ']') == WARDLET_NONE) {
		wardlet_text port = wardlet_slice(t, colon + 1, t.len);
		if (port.len == 0 || !only(port, DIGIT)) {
			return false;
		}
		host = wardlet_slice(t, 0, colon);
	}
	if (wardlet_starts(host, WARDLET_TEXT("["))) {
		wardlet_text address = wardlet_slice(host, 1, host.len - 1);
		return wardlet_ends(host, WARDLET_TEXT("]")) && address.len > 0 && only(address, DIGIT | HEX | HEX_UPPER | COLON);
	}
	wardlet_text label;
	bool more;
	do {
		more = wardlet_cut(host, '.', &label, &host);
		if (!is_label(label)) {
			return false;
		}
	} while (more);
	return true;
}

// is_part wants runs of lower case letters and digits, between them one dot, one or two underscores, or any number of
// dashes.
static bool is_part(wardlet_text t, int word) {
	for (;;) {
		size_t letters = run(t, word);
		if (letters == 0) {
			return false;
		}
		t = wardlet_slice(t, letters, t.len);
		if (t.len == 0) {
			return true;
		}
		wardlet_text between = wardlet_slice(t, 0, run(t, DOT | UNDERSCORE | DASH));
		if (!wardlet_is(between, ".") && !wardlet_is(between, "_") && !wardlet_is(between, "__") && !only(between, DASH)) {
			return false;
		}
		t = wardlet_slice(t, between.len, t.len);
	}
}

bool is_path(wardlet_text t, bool stars) {
	wardlet_text part;
	bool more;
	do {
		more = wardlet_cut(t, '/', &part, &t);
		if (!is_part(part, stars ? DIGIT | LOWER | STAR : DIGIT | LOWER)) {
			return false;
		}
	} while (more);
	return true;
}
