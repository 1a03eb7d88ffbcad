// Runs a plugin's policy natively, without the agent and without WebAssembly: it hands the policy what the agent would, by
// the same rules, and collects what the policy says. Include it in the one file of a test program that has main; test.sh
// beside it builds and runs such programs.
//
// Comes in: the plugin that the program is linked with, settings and fields as JSON. Goes out: results. Every call runs in a
// process of its own, in which setup ran before: no call sees what another left behind, a trap ends only the call, and
// whatever else goes wrong in there fails the test.
//
// What it does not do: make fields of a pod (a test gives the fields themselves), say whether a path names a field of a pod,
// escape what is not printable in messages.

#ifndef WARDLET_TEST_H
#define WARDLET_TEST_H

#include "internal/call.h"

// wardlet_test_load only loads the plugin: the answer is "loaded", or "failed" with the failure PluginError and, as message,
// why it refuses its settings.
#define wardlet_test_load(...) wardlet__ask(WARDLET__LOAD, &(wardlet_question){.settings = __VA_ARGS__}, __FILE__, __LINE__)

// The others load the plugin and ask it something: wardlet_test_admit(.settings = "…", .fields = "…"). A plugin that refuses
// its settings then answers with a failure, too.
#define wardlet_test_admit(...) wardlet__ask(WARDLET__ADMIT, &(wardlet_question){__VA_ARGS__}, __FILE__, __LINE__)
#define wardlet_test_merge(...) wardlet__ask(WARDLET__MERGE, &(wardlet_question){__VA_ARGS__}, __FILE__, __LINE__)
#define wardlet_test_filter(...) wardlet__ask(WARDLET__FILTER, &(wardlet_question){__VA_ARGS__}, __FILE__, __LINE__)
#define wardlet_test_connect(...) wardlet__ask(WARDLET__CONNECT, &(wardlet_question){__VA_ARGS__}, __FILE__, __LINE__)

// wardlet_quote is a C string as JSON, for fields. It holds until the test ends.
static inline const char *wardlet_quote(const char *s) {
	wardlet__bytes b = {NULL, 0};
	wardlet__put_quoted(&b, wardlet_c(s));
	char *quoted = wardlet_alloc(b.len + 1);
	memcpy(quoted, b.at, b.len);
	free(b.at);
	return quoted;
}

// WARDLET_RUN(test) runs a void test(void).
#define WARDLET_RUN(test) wardlet_test_run(#test, test)

static inline void wardlet_test_run(const char *name, void (*test)(void)) {
	wardlet_tests.test = name;
	wardlet_tests.tests++;
	wardlet_tests.failing = false;
	test();
	wardlet__release();
	wardlet_tests.failed += wardlet_tests.failing;
}

// wardlet_test_end says how it went, and gives what main returns. A program without tests fails.
static inline int wardlet_test_end(void) {
	printf("%s: %d tests, %d failed\n", wardlet_tests.failed > 0 || wardlet_tests.tests == 0 ? "FAIL" : "ok", wardlet_tests.tests,
		wardlet_tests.failed);
	return wardlet_tests.failed > 0 || wardlet_tests.tests == 0;
}

#endif
