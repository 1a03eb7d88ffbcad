// The agent's functions, which the SDK calls, and what a call leaves behind.

#ifndef WARDLET_INTERNAL_AGENT_H
#define WARDLET_INTERNAL_AGENT_H

#include "check.h"
#include "result.h"
#include "values.h"

#include <sys/types.h>
#include <unistd.h>

// What a call leaves behind. It lies in memory that the process of the test shares with that of the call.
typedef struct wardlet__outcome {
	wardlet_result result;
	bool done;           // the call came to its end, or to one that the agent knows
	bool failing;        // a check in it failed
	const char *misused; // what is wrong with the test
	struct wardlet__outcome *before;
	size_t used;
	char text[1 << 20];
} wardlet__outcome;

// The call that is running, in its own process.
static struct {
	wardlet__outcome *outcome;
	const wardlet_question *question;
	enum { WARDLET__OUTSIDE, WARDLET__LOADING, WARDLET__INITIALISING, WARDLET__CALLED } stage;
	wardlet__node settings, fields;
	const char *paths[WARDLET_MAX_FIELDS];
	bool lazy[WARDLET_MAX_FIELDS];
	int declared;
	size_t put, memory;
} wardlet__call;

// All outcomes of the test that is running.
static wardlet__outcome *wardlet__outcomes;

static const char *wardlet__keep(const char *at, size_t len) {
	wardlet__outcome *o = wardlet__call.outcome;
	if (len >= sizeof o->text - o->used) {
		len = sizeof o->text - o->used - 1;
	}
	char *to = o->text + o->used;
	memcpy(to, at, len);
	to[len] = 0;
	o->used += len + 1;
	return to;
}

// wardlet__stop ends the call from inside of a function of the agent.
__attribute__((noreturn)) static void wardlet__stop(const char *failure, const char *message) {
	wardlet__outcome *o = wardlet__call.outcome;
	if (wardlet__call.stage == WARDLET__OUTSIDE) {
		printf("a function of the SDK that asks the agent was called outside of a policy: %s\n", message);
		exit(2);
	}
	o->result.answer = "failed";
	o->result.failure = failure;
	o->result.message = wardlet__keep(message, strlen(message));
	o->done = true;
	_exit(0);
}

__attribute__((noreturn)) static void wardlet__misuse(const char *what, const char *more) {
	char message[2048];
	snprintf(message, sizeof message, "%s%s", what, more);
	wardlet__call.outcome->misused = wardlet__keep(message, strlen(message));
	_exit(0);
}

// wardlet__given is a text that the plugin hands over; it counts.
static const char *wardlet__given(const char *at, size_t len, size_t limit) {
	if (wardlet__call.stage == WARDLET__OUTSIDE) {
		wardlet__stop("", "a text is handed over");
	}
	if ((wardlet__call.put += len) > WARDLET_TEST_OUTPUT_BYTES) {
		wardlet__stop("BadOutput", "the plugin put out more than 64 KiB in one call");
	}
	if (len > limit) {
		for (len = limit; len > 0 && ((unsigned char)at[len] & 0xC0) == 0x80; len--) {
		}
	}
	return wardlet__keep(len > 0 ? at : "", len);
}

// What a test allocates outside of calls, by trying out parts of a policy, holds until it ends.
typedef struct wardlet__piece {
	struct wardlet__piece *before;
	_Alignas(16) char bytes[];
} wardlet__piece;

static wardlet__piece *wardlet__pieces;

void *wardlet__native_alloc(size_t n) {
	if (wardlet__call.stage == WARDLET__OUTSIDE) {
		wardlet__piece *p = calloc(1, sizeof *p + n);
		p->before = wardlet__pieces;
		wardlet__pieces = p;
		return p->bytes;
	}
	if (n > WARDLET_TEST_MEMORY - wardlet__call.memory) {
		wardlet__stop("MemoryLimit", "the plugin wants more memory than it may have");
	}
	wardlet__call.memory += n;
	return calloc(1, n + (n == 0));
}

static int32_t wardlet__declare_path(const char *path, uint32_t len, bool lazy) {
	static const char *const roots[] = {"object.", "oldObject.", "request.", "node.", "candidates["};
	if (wardlet__call.stage != WARDLET__INITIALISING) {
		return -2;
	}
	for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
		if (strncmp(path, roots[i], strlen(roots[i])) != 0 || len > 1024) {
			continue;
		}
		if (wardlet__call.declared == WARDLET_MAX_FIELDS) {
			return -3;
		}
		wardlet__call.paths[wardlet__call.declared] = wardlet__keep(path, len);
		wardlet__call.lazy[wardlet__call.declared] = lazy;
		return wardlet__call.declared++;
	}
	return -1;
}

int32_t wardlet__host_path(const char *path, uint32_t len) { return wardlet__declare_path(path, len, false); }

int32_t wardlet__host_field(const char *path, uint32_t len) { return wardlet__declare_path(path, len, true); }

// wardlet__fill gives bytes as the agent does: only where there is room for all.
static int32_t wardlet__fill(wardlet__bytes b, void *buf, uint32_t cap) {
	if (b.len <= cap && b.len > 0) {
		memcpy(buf, b.at, b.len);
	}
	free(b.at);
	return (int32_t)b.len;
}

static void wardlet__put_field(wardlet__bytes *b, const char *path) {
	const wardlet__node *value = wardlet__member(&wardlet__call.fields, wardlet_c(path)), missing = {.type = WARDLET__NULL};
	wardlet__put_value(b, value != NULL ? value : &missing);
}

int32_t wardlet__host_get(int32_t handle, void *buf, uint32_t cap) {
	if (wardlet__call.stage != WARDLET__CALLED) {
		return -2;
	}
	if (handle < 0 || handle >= wardlet__call.declared) {
		return -1;
	}
	wardlet__bytes b = {NULL, 0};
	wardlet__put_field(&b, wardlet__call.paths[handle]);
	return wardlet__fill(b, buf, cap);
}

int32_t wardlet__host_json(int32_t document, void *buf, uint32_t cap) {
	const wardlet_question *q = wardlet__call.question;
	const char *const documents[] = {q->request, q->object, q->old_object, q->node};
	if (wardlet__call.stage != WARDLET__CALLED) {
		return -2;
	}
	const char *text = NULL;
	if (document >= 0 && document < 4) {
		text = documents[document];
	} else if (document >= 16 && document < 32) {
		text = q->candidates[document - 16];
	}
	wardlet__node n;
	wardlet__bytes b = {NULL, 0};
	if (text == NULL) {
		return -1;
	}
	if (wardlet__parse(text, &n) != NULL) {
		wardlet__misuse("a document of the question is no JSON: ", text);
	}
	wardlet__put_json(&b, &n);
	return wardlet__fill(b, buf, cap);
}

// wardlet__find_setting follows a path of names and quoted keys.
static const wardlet__node *wardlet__find_setting(wardlet_text path) {
	const wardlet__node *n = &wardlet__call.settings;
	for (size_t at = 0; n != NULL && at < path.len;) {
		wardlet_text rest = wardlet_slice(path, at, path.len);
		if (wardlet_starts(rest, WARDLET_TEXT("['"))) {
			size_t end = wardlet_find(rest, WARDLET_TEXT("']"));
			if (end == WARDLET_NONE) {
				return NULL;
			}
			n = wardlet__member(n, wardlet_slice(rest, 2, end));
			at += end + 2;
			continue;
		}
		size_t from = at > 0 && rest.at[0] == '.' ? 1 : 0, end = from;
		while (end < rest.len && rest.at[end] != '.' && rest.at[end] != '[') {
			end++;
		}
		if (end == from || (at > 0) != (from == 1)) {
			return NULL;
		}
		n = wardlet__member(n, wardlet_slice(rest, from, end));
		at += end;
	}
	return n;
}

int32_t wardlet__host_setting(const char *path, uint32_t len, void *buf, uint32_t cap) {
	wardlet__bytes b = {NULL, 0};
	if (wardlet__call.stage == WARDLET__OUTSIDE) {
		wardlet__stop("", "a setting is read");
	}
	if (len == 0) {
		wardlet__bytes json = {NULL, 0};
		wardlet__put_json(&json, &wardlet__call.settings);
		wardlet__put_number(&b, WARDLET_JSON, 1);
		wardlet__put_text(&b, (wardlet_text){(const char *)json.at, json.len});
		free(json.at);
		return wardlet__fill(b, buf, cap);
	}
	const wardlet__node *n = wardlet__find_setting((wardlet_text){path, len});
	if (n == NULL) {
		return -1;
	}
	wardlet__put_value(&b, n);
	return wardlet__fill(b, buf, cap);
}

void wardlet__host_reason(const char *code, uint32_t code_len, const char *message, uint32_t message_len) {
	wardlet_result *r = &wardlet__call.outcome->result;
	r->code = wardlet__given(code, code_len, 64);
	r->message = wardlet__given(message, message_len, 4 << 10);
}

void wardlet__host_warn(const char *text, uint32_t len) {
	const char *kept = wardlet__given(text, len, 4 << 10);
	wardlet_result *r = &wardlet__call.outcome->result;
	if (r->warnings == WARDLET_TEST_NOTES) {
		wardlet__stop("BadOutput", "more than 64 warnings in one call");
	}
	r->warning[r->warnings++] = kept;
}

void wardlet__host_annotate(const char *key, uint32_t key_len, const char *value, uint32_t value_len) {
	const char *k = wardlet__given(key, key_len, 253), *v = wardlet__given(value, value_len, WARDLET_TEST_OUTPUT_BYTES);
	wardlet_result *r = &wardlet__call.outcome->result;
	int i = 0;
	while (i < r->annotations && !wardlet_same(r->key[i], k)) {
		i++;
	}
	if (key_len == 0 || key_len > 253 || i == WARDLET_TEST_NOTES) {
		wardlet__stop("BadOutput", "more than 64 annotations in one call, or a key that has not 1 to 253 bytes");
	}
	r->key[i] = k;
	r->value[i] = v;
	r->annotations += i == r->annotations;
}

void wardlet__host_explain(const char *text, uint32_t len) {
	const char *kept = wardlet__given(text, len, WARDLET_TEST_OUTPUT_BYTES);
	wardlet__call.outcome->result.explanation = kept;
}

void wardlet__host_retry_after_ms(int64_t ms) {
	if (ms < 0) {
		wardlet__stop("BadOutput", "a retry after less than no time");
	}
	wardlet__call.outcome->result.retry_after_ms = ms;
}

void wardlet__host_patch(const char *json, uint32_t len) {
	const char *kept = wardlet__given(json, len, WARDLET_TEST_OUTPUT_BYTES);
	wardlet__node patch;
	const char *fault = wardlet__parse(kept, &patch);
	bool good = fault == NULL && patch.type == WARDLET__ARRAY && strchr(kept, '\'') == NULL;
	for (size_t i = 0; good && i < patch.count; i++) {
		const wardlet__node *op = wardlet__member(&patch.items[i], WARDLET_TEXT("op"));
		const wardlet__node *path = wardlet__member(&patch.items[i], WARDLET_TEXT("path"));
		good = op != NULL && path != NULL && op->type == WARDLET__TEXT && path->type == WARDLET__TEXT &&
			(wardlet_is(op->text, "add") || wardlet_is(op->text, "replace") || wardlet_is(op->text, "remove") || wardlet_is(op->text, "test"));
	}
	if (!good) {
		wardlet__stop("BadOutput", "the patch is no JSON array of objects with an op (add, replace, remove, test) and a path");
	}
	wardlet__call.outcome->result.patch = kept;
}

void wardlet__host_log(int32_t level, const char *text, uint32_t len) {
	static const char *const levels[] = {"debug: ", "info: ", "warning: ", "error: "};
	wardlet_result *r = &wardlet__call.outcome->result;
	if (wardlet__call.stage == WARDLET__OUTSIDE || level < 0 || level > 3) {
		wardlet__stop("BadOutput", "a log line of a level that is not 0 to 3");
	}
	wardlet__bytes b = {NULL, 0};
	wardlet__put_plain(&b, r->log);
	wardlet__put_plain(&b, levels[level]);
	wardlet__put(&b, len > 0 ? text : "", len < 4096 ? len : 4096);
	wardlet__put_plain(&b, "\n");
	r->log = wardlet__keep((const char *)b.at, b.len);
	free(b.at);
}

int32_t wardlet__host_log_enabled(int32_t level) { return level >= 0 && level <= 3; }

#endif
