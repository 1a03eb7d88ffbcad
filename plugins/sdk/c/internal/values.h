// Writes JSON as text, and as the values of the ABI.

#ifndef WARDLET_INTERNAL_VALUES_H
#define WARDLET_INTERNAL_VALUES_H

#include "json.h"

typedef struct {
	uint8_t *at;
	size_t len;
} wardlet__bytes;

static void wardlet__put(wardlet__bytes *b, const void *from, size_t n) {
	b->at = realloc(b->at, b->len + n + 1);
	memcpy(b->at + b->len, from, n);
	b->len += n;
}

static void wardlet__put_number(wardlet__bytes *b, uint64_t n, int size) {
	for (int i = 0; i < size; i++) {
		uint8_t byte = (uint8_t)(n >> 8 * i);
		wardlet__put(b, &byte, 1);
	}
}

static void wardlet__put_text(wardlet__bytes *b, wardlet_text t) {
	wardlet__put_number(b, t.len, 4);
	wardlet__put(b, t.len > 0 ? t.at : "", t.len);
}

static void wardlet__put_plain(wardlet__bytes *b, const char *s) { wardlet__put(b, s, strlen(s)); }

static void wardlet__put_quoted(wardlet__bytes *b, wardlet_text t) {
	wardlet__put_plain(b, "\"");
	for (size_t i = 0; i < t.len; i++) {
		char escaped[8];
		unsigned char c = (unsigned char)t.at[i];
		if (c < 0x20 || c == '"' || c == '\\') {
			snprintf(escaped, sizeof escaped, "\\u%04x", c);
			wardlet__put_plain(b, escaped);
		} else {
			wardlet__put(b, &c, 1);
		}
	}
	wardlet__put_plain(b, "\"");
}

static void wardlet__put_json(wardlet__bytes *b, const wardlet__node *n) {
	char number[40] = "null";
	switch (n->type) {
	case WARDLET__TEXT:
		wardlet__put_quoted(b, n->text);
		return;
	case WARDLET__ARRAY:
	case WARDLET__OBJECT:
		wardlet__put_plain(b, n->type == WARDLET__OBJECT ? "{" : "[");
		for (size_t i = 0; i < n->count; i++) {
			wardlet__put_plain(b, i > 0 ? "," : "");
			if (n->type == WARDLET__OBJECT) {
				wardlet__put_quoted(b, n->keys[i]);
				wardlet__put_plain(b, ":");
			}
			wardlet__put_json(b, &n->items[i]);
		}
		wardlet__put_plain(b, n->type == WARDLET__OBJECT ? "}" : "]");
		return;
	case WARDLET__TRUTH:
		snprintf(number, sizeof number, "%s", n->whole != 0 ? "true" : "false");
		break;
	case WARDLET__WHOLE:
		snprintf(number, sizeof number, "%lld", (long long)n->whole);
		break;
	case WARDLET__FRACTION:
		snprintf(number, sizeof number, "%.17g", n->fraction);
		break;
	case WARDLET__NULL:
		break;
	}
	wardlet__put_plain(b, number);
}

static bool wardlet__before(wardlet_text a, wardlet_text b) {
	int order = memcmp(a.at, b.at, a.len < b.len ? a.len : b.len);
	return order < 0 || (order == 0 && a.len < b.len);
}

// wardlet__put_map writes the entries, sorted by key.
static void wardlet__put_map(wardlet__bytes *b, const wardlet__node *n) {
	bool *done = calloc(n->count + 1, sizeof *done);
	wardlet__put_number(b, n->count, 4);
	for (size_t round = 0; round < n->count; round++) {
		size_t least = n->count;
		for (size_t i = 0; i < n->count; i++) {
			if (!done[i] && (least == n->count || wardlet__before(n->keys[i], n->keys[least]))) {
				least = i;
			}
		}
		done[least] = true;
		wardlet__put_text(b, n->keys[least]);
		wardlet__put_text(b, n->items[least].text);
	}
	free(done);
}

static wardlet_kind wardlet__kind_of(const wardlet__node *n) {
	switch (n->type) {
	case WARDLET__TRUTH:
		return WARDLET_BOOL;
	case WARDLET__WHOLE:
		return WARDLET_INT;
	case WARDLET__FRACTION:
		return WARDLET_FLOAT;
	case WARDLET__TEXT:
		return WARDLET_STRING;
	case WARDLET__ARRAY:
		return WARDLET_LIST;
	case WARDLET__OBJECT:
		for (size_t i = 0; i < n->count; i++) {
			if (n->items[i].type != WARDLET__TEXT) {
				return WARDLET_JSON;
			}
		}
		return WARDLET_MAP;
	default:
		return WARDLET_MISSING;
	}
}

static void wardlet__put_value(wardlet__bytes *b, const wardlet__node *n) {
	const wardlet__node *json = n->count == 1 ? wardlet__member(n, WARDLET_TEXT("@json")) : NULL;
	wardlet_kind kind = json != NULL ? WARDLET_JSON : wardlet__kind_of(n);
	wardlet__bytes body = {NULL, 0};
	uint64_t bits;
	switch (kind) {
	case WARDLET_STRING:
		wardlet__put(&body, n->text.at, n->text.len);
		break;
	case WARDLET_BOOL:
		wardlet__put_number(&body, (uint64_t)n->whole, 1);
		break;
	case WARDLET_INT:
		wardlet__put_number(&body, (uint64_t)n->whole, 8);
		break;
	case WARDLET_FLOAT:
		memcpy(&bits, &n->fraction, sizeof bits);
		wardlet__put_number(&body, bits, 8);
		break;
	case WARDLET_LIST:
		wardlet__put_number(&body, n->count, 4);
		for (size_t i = 0; i < n->count; i++) {
			wardlet__put_value(&body, &n->items[i]);
		}
		break;
	case WARDLET_MAP:
		wardlet__put_map(&body, n);
		break;
	case WARDLET_JSON:
		wardlet__put_json(&body, json != NULL ? json : n);
		break;
	case WARDLET_MISSING:
		break;
	}
	wardlet__put_number(b, kind, 1);
	wardlet__put_text(b, (wardlet_text){(const char *)body.at, body.len});
	free(body.at);
}

#endif
