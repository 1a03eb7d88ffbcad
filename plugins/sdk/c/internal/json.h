// Reads JSON for tests, in which strings may also stand in single quotes. What it makes is never freed.

#ifndef WARDLET_INTERNAL_JSON_H
#define WARDLET_INTERNAL_JSON_H

#include "../wardlet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { WARDLET__NULL, WARDLET__TRUTH, WARDLET__WHOLE, WARDLET__FRACTION, WARDLET__TEXT, WARDLET__ARRAY, WARDLET__OBJECT } wardlet__type;

typedef struct wardlet__node {
	wardlet__type type;
	int64_t whole; // also a truth
	double fraction;
	wardlet_text text;
	size_t count;
	wardlet_text *keys;
	struct wardlet__node *items;
} wardlet__node;

typedef struct {
	const char *at, *fault;
} wardlet__reader;

static char wardlet__peek(wardlet__reader *r) {
	r->at += strspn(r->at, " \t\r\n");
	return *r->at;
}

static bool wardlet__take(wardlet__reader *r, const char *word) {
	if (strncmp(r->at, word, strlen(word)) != 0) {
		return false;
	}
	r->at += strlen(word);
	return true;
}

static void wardlet__utf8(char **to, uint32_t c) {
	if (c < 0x80) {
		*(*to)++ = (char)c;
	} else if (c < 0x800) {
		*(*to)++ = (char)(0xC0 | c >> 6);
		*(*to)++ = (char)(0x80 | (c & 0x3F));
	} else {
		*(*to)++ = (char)(0xE0 | c >> 12);
		*(*to)++ = (char)(0x80 | (c >> 6 & 0x3F));
		*(*to)++ = (char)(0x80 | (c & 0x3F));
	}
}

static wardlet_text wardlet__read_string(wardlet__reader *r) {
	char quote = *r->at++, *text = malloc(strlen(r->at) + 1), *to = text;
	while (*r->at != quote) {
		char c = *r->at;
		if (c == 0) {
			r->fault = "a string has no end";
			break;
		}
		r->at++;
		if (c != '\\') {
			*to++ = c;
			continue;
		}
		static const char names[] = "nrtbf\"'\\/", meant[] = "\n\r\t\b\f\"'\\/";
		const char *known = *r->at != 0 ? strchr(names, *r->at) : NULL;
		unsigned code;
		if (known != NULL) {
			*to++ = meant[known - names];
			r->at++;
		} else if (*r->at == 'u' && strspn(r->at + 1, "0123456789abcdefABCDEF") >= 4 && sscanf(r->at + 1, "%4x", &code) == 1 &&
			(code < 0xD800 || code > 0xDFFF)) {
			wardlet__utf8(&to, code);
			r->at += 5;
		} else {
			r->fault = "an escape that is not known here";
			break;
		}
	}
	if (r->fault == NULL) {
		r->at++;
	}
	return (wardlet_text){text, (size_t)(to - text)};
}

static wardlet__node wardlet__read_value(wardlet__reader *r, int depth);

static void wardlet__read_items(wardlet__reader *r, wardlet__node *n, int depth) {
	bool object = *r->at++ == '{';
	n->type = object ? WARDLET__OBJECT : WARDLET__ARRAY;
	char end = object ? '}' : ']';
	if (wardlet__peek(r) == end) {
		r->at++;
		return;
	}
	do {
		n->items = realloc(n->items, (n->count + 1) * sizeof *n->items);
		n->keys = realloc(n->keys, (n->count + 1) * sizeof *n->keys);
		n->keys[n->count] = WARDLET_TEXT("");
		if (object) {
			if (wardlet__peek(r) != '"' && *r->at != '\'') {
				r->fault = "an object wants keys in quotes";
				return;
			}
			n->keys[n->count] = wardlet__read_string(r);
			if (r->fault == NULL && wardlet__peek(r) != ':') {
				r->fault = "a key wants a colon";
			}
			if (r->fault != NULL) {
				return;
			}
			r->at++;
		}
		n->items[n->count] = wardlet__read_value(r, depth - 1);
		n->count++;
		if (r->fault != NULL) {
			return;
		}
	} while (wardlet__peek(r) == ',' && r->at++);
	if (*r->at != end) {
		r->fault = "a list or an object has no end";
		return;
	}
	r->at++;
}

static wardlet__node wardlet__read_value(wardlet__reader *r, int depth) {
	wardlet__node n = {.type = WARDLET__NULL};
	char c = wardlet__peek(r);
	if (depth == 0) {
		r->fault = "too deep";
	} else if (c == '{' || c == '[') {
		wardlet__read_items(r, &n, depth);
	} else if (c == '"' || c == '\'') {
		n.type = WARDLET__TEXT;
		n.text = wardlet__read_string(r);
	} else if (c == '-' || (c >= '0' && c <= '9')) {
		char *after;
		size_t digits = strspn(r->at + 1, "0123456789");
		bool whole = r->at[1 + digits] == 0 || strchr(".eE", r->at[1 + digits]) == NULL;
		n.type = whole ? WARDLET__WHOLE : WARDLET__FRACTION;
		n.whole = whole ? strtoll(r->at, &after, 10) : 0;
		n.fraction = whole ? 0 : strtod(r->at, &after);
		r->at = after;
	} else if (wardlet__take(r, "true")) {
		n.type = WARDLET__TRUTH;
		n.whole = 1;
	} else if (wardlet__take(r, "false")) {
		n.type = WARDLET__TRUTH;
	} else if (!wardlet__take(r, "null")) {
		r->fault = "no JSON";
	}
	return n;
}

// wardlet__parse gives what is wrong, or NULL.
static const char *wardlet__parse(const char *json, wardlet__node *n) {
	wardlet__reader r = {json, NULL};
	*n = wardlet__read_value(&r, 32);
	if (r.fault == NULL && wardlet__peek(&r) != 0) {
		r.fault = "there is more after the end";
	}
	return r.fault;
}

static const wardlet__node *wardlet__member(const wardlet__node *n, wardlet_text key) {
	for (size_t i = 0; n != NULL && n->type == WARDLET__OBJECT && i < n->count; i++) {
		if (wardlet_equal(n->keys[i], key)) {
			return &n->items[i];
		}
	}
	return NULL;
}

#endif
