// A small reader of JSON that the agent wrote: it walks through the text once and copies nothing. Texts come as they are
// written, with their escapes: the agent escapes no character that the rule looks for.
//
// Comes in: a text. Goes out: its tokens. A cursor that met something that is no JSON is at its end, and failed says so.

#ifndef JSON_H
#define JSON_H

#include "wardlet.h"

typedef struct {
	const char *at, *end;
	bool failed;
} json_cursor;

// json_take takes a character if it is the next.
static inline bool json_take(json_cursor *c, char want) {
	if (c->at < c->end && *c->at == want) {
		c->at++;
		return true;
	}
	return false;
}

static inline void json_fail(json_cursor *c) {
	c->failed = true;
	c->at = c->end;
}

// json_text takes a string.
static inline wardlet_text json_text(json_cursor *c) {
	if (!json_take(c, '"')) {
		json_fail(c);
		return WARDLET_TEXT("");
	}
	const char *from = c->at;
	while (c->at < c->end && *c->at != '"') {
		c->at += *c->at == '\\' ? 2 : 1;
	}
	if (c->at >= c->end) {
		json_fail(c);
		return WARDLET_TEXT("");
	}
	return (wardlet_text){from, (size_t)(c->at++ - from)};
}

// json_skip takes whatever value comes next. Brackets need not match: the agent's do.
static inline void json_skip(json_cursor *c) {
	int depth = 0;
	while (c->at < c->end) {
		switch (*c->at) {
		case '"':
			json_text(c);
			break;
		case '{':
		case '[':
			depth++;
			c->at++;
			continue;
		case '}':
		case ']':
			depth--;
			c->at++;
			break;
		case ',':
		case ':':
			c->at++;
			continue;
		default:
			for (c->at++; c->at < c->end && *c->at != ',' && *c->at != '}' && *c->at != ']'; c->at++) {
			}
		}
		if (depth == 0) {
			return;
		}
	}
	c->failed = c->failed || depth != 0;
}

// json_null takes a null in a value's place.
static inline bool json_null(json_cursor *c) {
	if (c->end - c->at >= 4 && __builtin_memcmp(c->at, "null", 4) == 0) {
		c->at += 4;
		return true;
	}
	return false;
}

// json_true takes a bool.
static inline bool json_true(json_cursor *c) {
	bool is = c->at < c->end && *c->at == 't';
	json_skip(c);
	return is;
}

// json_key takes the next key of an object; first says that it is the first one. False: there is none left.
static inline bool json_key(json_cursor *c, bool *first, wardlet_text *key) {
	if (*first ? json_null(c) || !json_take(c, '{') || json_take(c, '}') : !json_take(c, ',')) {
		if (!*first && !json_take(c, '}')) {
			json_fail(c);
		}
		return false;
	}
	*first = false;
	*key = json_text(c);
	if (!json_take(c, ':')) {
		json_fail(c);
		return false;
	}
	return true;
}

// json_element goes to the next element of a list, as json_key does.
static inline bool json_element(json_cursor *c, bool *first) {
	if (*first ? json_null(c) || !json_take(c, '[') || json_take(c, ']') : !json_take(c, ',')) {
		if (!*first && !json_take(c, ']')) {
			json_fail(c);
		}
		return false;
	}
	*first = false;
	return true;
}

#endif
