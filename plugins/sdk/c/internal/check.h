// Checks, and what they need.

#ifndef WARDLET_INTERNAL_CHECK_H
#define WARDLET_INTERNAL_CHECK_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../wardlet.h"

static struct {
	const char *test;
	int tests, failed;
	bool failing;
	bool *inside; // in a call: where its process tells that a check failed
} wardlet_tests;

__attribute__((format(printf, 3, 4))) static void wardlet_test_fail(const char *file, int line, const char *format, ...) {
	va_list args;
	va_start(args, format);
	printf("%s:%d: %s: ", file, line, wardlet_tests.test != NULL ? wardlet_tests.test : "before any test");
	vprintf(format, args);
	printf("\n");
	va_end(args);
	wardlet_tests.failing = true;
	if (wardlet_tests.inside != NULL) {
		*wardlet_tests.inside = true;
		fflush(stdout);
	}
}

// WARDLET_CHECK(condition, format, …) fails the test, which goes on. It may stand in a policy that is made for a test.
#define WARDLET_CHECK(condition, ...) \
	do { \
		if (!(condition)) { \
			wardlet_test_fail(__FILE__, __LINE__, __VA_ARGS__); \
		} \
	} while (0)

// wardlet_same compares C strings.
static inline bool wardlet_same(const char *a, const char *b) { return strcmp(a, b) == 0; }

// wardlet_has reports whether a C string holds another.
static inline bool wardlet_has(const char *s, const char *part) { return strstr(s, part) != NULL; }

// wardlet_random steps a sequence of numbers that is the same in every run. Start with anything but 0.
static inline uint32_t wardlet_random(uint64_t *state) {
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)(*state >> 32);
}

#endif
