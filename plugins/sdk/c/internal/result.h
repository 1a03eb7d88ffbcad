// Questions to a policy, and what it says.

#ifndef WARDLET_INTERNAL_RESULT_H
#define WARDLET_INTERNAL_RESULT_H

#include "../wardlet.h"

// Bounds of what a plugin hands over in one call, the agent's own.
#define WARDLET_TEST_OUTPUT_BYTES (64 << 10)
#define WARDLET_TEST_NOTES 64
// Memory that a plugin may have, and seconds that a call may take.
#define WARDLET_TEST_MEMORY (64 * 65536)
#define WARDLET_TEST_SECONDS 20

// A question to a policy. Texts are JSON, in which strings may also stand in single quotes. What is left out is not there.
typedef struct {
	const char *settings; // the table [settings]
	// An object of paths, as the plugin declares them, and values: a string, a bool, an integer, a list, an object of strings
	// (a map), or {"@json": …} for what the agent sends as JSON. null is a missing field, and so is what is left out. A path
	// that the plugin did not declare fails the test.
	const char *fields;
	// A record to send instead, of any bytes.
	const uint8_t *record;
	size_t record_len;
	// What wardlet_document gives, and of the candidates also how many there are.
	const char *request, *object, *old_object, *node, *candidates[16];
	bool nothing_runs; // none of the candidates does
} wardlet_question;

// What a policy said. It holds until the test ends.
typedef struct {
	// allow, deny, hold, abstain; win N, keep current, reject all; pass, drop, defer; or failed, with a failure.
	const char *answer;
	// The agent's code for what went wrong: PluginError, BadOutput, InputTooLarge, MemoryLimit, Trap. Else it is empty.
	const char *failure;
	// The texts are never NULL. Of a failure, message says more.
	const char *code, *message, *explanation, *patch;
	int64_t retry_after_ms; // -1: none was named
	int warnings, annotations;
	const char *warning[WARDLET_TEST_NOTES], *key[WARDLET_TEST_NOTES], *value[WARDLET_TEST_NOTES];
	const char *log; // lines such as "info: text\n"
} wardlet_result;

#endif
