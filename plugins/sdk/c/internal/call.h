// A call: the plugin is loaded and asked in a process of its own.

#ifndef WARDLET_INTERNAL_CALL_H
#define WARDLET_INTERNAL_CALL_H

#include "agent.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

// The plugin's exports, as far as it has them.
__attribute__((weak)) int32_t wardlet_init(void);
__attribute__((weak)) void *wardlet_input(void);
__attribute__((weak)) int32_t wardlet_validate_settings(void);
__attribute__((weak)) int32_t wardlet_admit(void);
__attribute__((weak)) int32_t wardlet_merge(void);
__attribute__((weak)) int32_t wardlet_filter(void);
__attribute__((weak)) int32_t wardlet_connect(void);

static void wardlet__parse_table(const char *what, const char *json, wardlet__node *n) {
	const char *fault = wardlet__parse(json != NULL ? json : "{}", n);
	if (fault != NULL || n->type != WARDLET__OBJECT) {
		wardlet__misuse(what, fault != NULL ? fault : "no object");
	}
}

static void wardlet__check_code(const wardlet_result *r) {
	const char *c = r->code;
	size_t good = strspn(c, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
	if (*c != 0 && (good != strlen(c) || *c < 'A' || *c > 'Z')) {
		wardlet__misuse("the reason's code is no single word in CamelCase: ", c);
	}
}

// wardlet__initialise does what the agent does before it asks anything.
static void wardlet__initialise(void) {
	if (wardlet_validate_settings != NULL) {
		wardlet__call.stage = WARDLET__LOADING;
		if (wardlet_validate_settings() != 0) {
			wardlet__stop("PluginError", wardlet__call.outcome->result.message);
		}
	}
	wardlet__call.stage = WARDLET__INITIALISING;
	if (wardlet_init != NULL && wardlet_init() != 0) {
		wardlet__stop("PluginError", wardlet__call.outcome->result.message);
	}
	wardlet_result *r = &wardlet__call.outcome->result;
	r->code = r->message = r->explanation = r->patch = "";
	r->retry_after_ms = -1;
	r->warnings = r->annotations = 0;
	wardlet__call.put = 0;
}

static void wardlet__send(const wardlet_question *q) {
	for (size_t i = 0; i < wardlet__call.fields.count; i++) {
		int known = 0;
		while (known < wardlet__call.declared && !wardlet_is(wardlet__call.fields.keys[i], wardlet__call.paths[known])) {
			known++;
		}
		if (known == wardlet__call.declared) {
			wardlet__misuse("the question has a field that the plugin does not declare: ",
				wardlet__keep(wardlet__call.fields.keys[i].at, wardlet__call.fields.keys[i].len));
		}
	}
	wardlet__bytes record = {NULL, 0};
	int sent = 0;
	for (int i = 0; i < wardlet__call.declared; i++) {
		sent += !wardlet__call.lazy[i];
	}
	wardlet__put_number(&record, (uint64_t)sent, 2);
	for (int i = 0; i < wardlet__call.declared; i++) {
		if (!wardlet__call.lazy[i]) {
			wardlet__put_number(&record, (uint64_t)i, 2);
			wardlet__put_field(&record, wardlet__call.paths[i]);
		}
	}
	if (q->record != NULL) {
		record.len = 0;
		wardlet__put(&record, q->record, q->record_len);
	}
	struct {
		uint32_t capacity, length;
		uint8_t record[];
	} *area = wardlet_input != NULL ? wardlet_input() : NULL;
	if (area == NULL && sent > 0) {
		wardlet__stop("AbiMismatch", "the plugin declares fields but has no input area: use WARDLET_PLUGIN");
	}
	if (area != NULL && record.len > area->capacity) {
		wardlet__stop("InputTooLarge", "the fields take more than the plugin has room for");
	}
	if (area != NULL) {
		area->length = (uint32_t)record.len;
		memcpy(area->record, record.at, record.len);
	}
	free(record.at);
}

// wardlet__release gives back what the test that ended holds.
static inline void wardlet__release(void) {
	while (wardlet__outcomes != NULL) {
		wardlet__outcome *o = wardlet__outcomes;
		wardlet__outcomes = o->before;
		munmap(o, sizeof *o);
	}
	while (wardlet__pieces != NULL) {
		wardlet__piece *p = wardlet__pieces;
		wardlet__pieces = p->before;
		free(p);
	}
}

typedef enum { WARDLET__LOAD, WARDLET__ADMIT, WARDLET__MERGE, WARDLET__FILTER, WARDLET__CONNECT } wardlet__hook;

static const char *wardlet__meaning(wardlet__hook hook, int32_t answer) {
	static const char *const words[][4] = {
		[WARDLET__ADMIT] = {"allow", "deny", "hold", "abstain"},
		[WARDLET__MERGE] = {"abstain", "reject all", "keep current", NULL},
		[WARDLET__FILTER] = {"pass", "drop", "defer", "abstain"},
		[WARDLET__CONNECT] = {"allow", "deny", NULL, "abstain"},
	};
	const wardlet_question *q = wardlet__call.question;
	const wardlet_result *r = &wardlet__call.outcome->result;
	if (answer < (hook == WARDLET__MERGE ? -3 : 0)) {
		wardlet__stop("PluginError", r->message);
	}
	if (hook == WARDLET__MERGE && answer >= 0) {
		char win[20];
		if (answer > 15 || q->candidates[answer] == NULL) {
			wardlet__stop("BadOutput", "there is no such candidate");
		}
		return wardlet__keep(win, (size_t)snprintf(win, sizeof win, "win %d", answer));
	}
	if (answer > 3 || (hook == WARDLET__CONNECT && answer == 2) || (hook == WARDLET__MERGE && answer == -1 && q->nothing_runs)) {
		wardlet__stop("BadOutput", "an answer that means nothing here");
	}
	return words[hook][hook == WARDLET__MERGE ? answer + 3 : answer];
}

// wardlet__run is a call in its own process.
__attribute__((noreturn)) static void wardlet__run(wardlet__hook hook) {
	int32_t (*const hooks[])(void) = {NULL, wardlet_admit, wardlet_merge, wardlet_filter, wardlet_connect};
	const wardlet_question *q = wardlet__call.question;
	alarm(WARDLET_TEST_SECONDS);
	wardlet__parse_table("the settings are no object of JSON: ", q->settings, &wardlet__call.settings);
	wardlet__parse_table("the fields are no object of JSON: ", q->fields, &wardlet__call.fields);
	if (hook != WARDLET__LOAD && hooks[hook] == NULL) {
		wardlet__misuse("the plugin does not have this hook", "");
	}
	wardlet__initialise();
	wardlet_result *r = &wardlet__call.outcome->result;
	if (hook == WARDLET__LOAD) {
		r->answer = "loaded";
	} else {
		r->answer = "";
		wardlet__send(q);
		wardlet__call.stage = WARDLET__CALLED;
		r->answer = wardlet__meaning(hook, hooks[hook]());
	}
	wardlet__check_code(r);
	wardlet__call.outcome->done = true;
	_exit(0);
}

static inline const wardlet_result *wardlet__ask(wardlet__hook hook, const wardlet_question *q, const char *file, int line) {
	wardlet__outcome *o = mmap(NULL, sizeof *o, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (o == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	o->before = wardlet__outcomes;
	wardlet__outcomes = o;
	o->result = (wardlet_result){.answer = NULL, .failure = "", .code = "", .message = "", .explanation = "", .patch = "",
		.retry_after_ms = -1, .log = ""};
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		wardlet__call.outcome = o;
		wardlet__call.question = q;
		wardlet_tests.inside = &o->failing;
		wardlet__run(hook);
	}
	int status = 0;
	while (child < 0 || waitpid(child, &status, 0) < 0) {
		if (child < 0 || errno != EINTR) {
			perror("fork");
			exit(2);
		}
	}
	wardlet_tests.failing |= o->failing;
	if (o->misused != NULL) {
		wardlet_test_fail(file, line, "%s", o->misused);
	} else if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGILL || WTERMSIG(status) == SIGTRAP)) {
		o->result.answer = "failed";
		o->result.failure = "Trap";
	} else if (!o->done) {
		wardlet_test_fail(file, line, WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "the call took too long" : "the call crashed");
	}
	if (o->result.answer == NULL) {
		o->result.answer = "failed";
	}
	return &o->result;
}

#endif
