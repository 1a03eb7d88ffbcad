// Texts and builders.

#include "wardlet_test.h"

#define T(literal) WARDLET_TEXT(literal)

static const char *string(wardlet_text t) {
	char *s = calloc(1, t.len + 1);
	memcpy(s, t.len > 0 ? t.at : "", t.len);
	return s;
}

static void texts_are_compared_by_their_bytes(void) {
	WARDLET_CHECK(wardlet_equal(T(""), (wardlet_text){NULL, 0}), "two empty texts differ");
	WARDLET_CHECK(wardlet_equal(T("a\0b"), T("a\0b")) && !wardlet_equal(T("a\0b"), T("a\0c")), "a zero byte ends a text");
	WARDLET_CHECK(wardlet_is(T("ab"), "ab") && !wardlet_is(T("ab"), "a") && !wardlet_is(T("a"), "ab"), "compared with C strings");
	WARDLET_CHECK(wardlet_starts(T("abc"), T("ab")) && !wardlet_starts(T("abc"), T("b")) && !wardlet_starts(T("a"), T("ab")), "prefixes");
	WARDLET_CHECK(wardlet_ends(T("abc"), T("bc")) && !wardlet_ends(T("abc"), T("b")) && !wardlet_ends(T("c"), T("bc")), "suffixes");
}

static void slices_stay_within_the_text(void) {
	WARDLET_CHECK(wardlet_is(wardlet_slice(T("abcd"), 1, 3), "bc"), "the middle");
	WARDLET_CHECK(wardlet_is(wardlet_slice(T("abcd"), 2, 99), "cd"), "beyond the end");
	WARDLET_CHECK(wardlet_is(wardlet_slice(T("abcd"), 3, 1), ""), "backwards");
	WARDLET_CHECK(wardlet_slice(T("abcd"), 9, 9).len == 0 && wardlet_slice((wardlet_text){NULL, 0}, 1, 2).len == 0, "nothing");
}

static void searches_find_the_place_or_nothing(void) {
	WARDLET_CHECK(wardlet_find(T("abcabc"), T("ca")) == 2 && wardlet_find(T("abc"), T("")) == 0, "a text in a text");
	WARDLET_CHECK(wardlet_find(T("abc"), T("cb")) == WARDLET_NONE && wardlet_find(T("a"), T("ab")) == WARDLET_NONE, "no text");
	WARDLET_CHECK(wardlet_find_char(T("a/b/c"), '/') == 1 && wardlet_find_last(T("a/b/c"), '/') == 3, "a byte");
	WARDLET_CHECK(wardlet_find_char(T("abc"), '/') == WARDLET_NONE && wardlet_find_last(T(""), '/') == WARDLET_NONE, "no byte");
	wardlet_text before, after;
	WARDLET_CHECK(wardlet_cut(T("a:b:c"), ':', &before, &after) && wardlet_is(before, "a") && wardlet_is(after, "b:c"), "cut");
	WARDLET_CHECK(!wardlet_cut(T("abc"), ':', &before, &after) && wardlet_is(before, "abc") && after.len == 0, "nothing to cut at");
}

static void bytes_are_found_in_texts_of_every_length(void) {
	uint64_t state = 9;
	for (int round = 0; round < 100000; round++) {
		size_t len = wardlet_random(&state) % 30, first = WARDLET_NONE, last = WARDLET_NONE;
		char *text = malloc(len + (len == 0)); // just as long, so that a read beyond it is found
		char c = (char)wardlet_random(&state);
		for (size_t i = 0; i < len; i++) {
			uint32_t r = wardlet_random(&state);
			text[i] = r % 16 == 0 ? c : (char)(c + (r % 3 == 0 ? 1 : r % 3 == 1 ? -1 : (int)(r >> 8)));
			if (text[i] == c) {
				first = first == WARDLET_NONE ? i : first;
				last = i;
			}
		}
		wardlet_text t = {text, len};
		WARDLET_CHECK(wardlet_find_char(t, c) == first && wardlet_find_last(t, c) == last, "a text of %zu bytes", len);
		free(text);
	}
}

static void globs_match_whole_texts(void) {
	static const struct {
		const char *pattern, *text;
		bool want;
	} tests[] = {
		{"", "", true}, {"", "a", false}, {"a", "a", true}, {"a", "b", false}, {"*", "", true}, {"*", "a/b", true},
		{"a*", "a", true}, {"a*", "abc", true}, {"a*", "ba", false}, {"*a", "bca", true}, {"*a", "ab", false},
		{"a*c", "abc", true}, {"a*c", "ac", true}, {"a*c", "acb", false}, {"ab*ba", "aba", false}, {"a*b*c", "aXbXc", true},
		{"a*b*c", "acb", false}, {"**", "x", true}, {"*ab*ab", "abab", true}, {"*ab*ab", "ab", false}, {"a?", "ab", false}, {"a\\*", "a*", false},
	};
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		WARDLET_CHECK(wardlet_glob(wardlet_c(tests[i].pattern), wardlet_c(tests[i].text)) == tests[i].want, "pattern %s, text %s",
			tests[i].pattern, tests[i].text);
	}
}

static bool matches(const char *pattern, const char *text) {
	if (*pattern == 0) {
		return *text == 0;
	}
	if (*pattern == '*') {
		return matches(pattern + 1, text) || (*text != 0 && matches(pattern, text + 1));
	}
	return *pattern == *text && matches(pattern + 1, text + 1);
}

static void globs_match_as_their_definition_says(void) {
	uint64_t state = 1;
	int yes = 0;
	for (int round = 0; round < 100000; round++) {
		char pattern[8], text[10];
		size_t p = wardlet_random(&state) % sizeof pattern, t = wardlet_random(&state) % sizeof text;
		for (size_t i = 0; i < p; i++) {
			pattern[i] = "ab*"[wardlet_random(&state) % 3];
		}
		for (size_t i = 0; i < t; i++) {
			text[i] = "ab"[wardlet_random(&state) % 2];
		}
		pattern[p] = text[t] = 0;
		bool want = matches(pattern, text);
		yes += want;
		WARDLET_CHECK(wardlet_glob(wardlet_c(pattern), wardlet_c(text)) == want, "pattern %s, text %s", pattern, text);
	}
	WARDLET_CHECK(yes > 1000, "only %d of them match", yes);
}

static wardlet_verdict (*policy)(void);

static wardlet_verdict building(void) {
	wardlet_builder b = wardlet_build(20);
	wardlet_add_c(&b, "n = ");
	wardlet_add_int(&b, -42);
	wardlet_add(&b, T(""));
	WARDLET_CHECK(wardlet_is(wardlet_built(&b), "n = -42") && !b.cut, "got %s", string(wardlet_built(&b)));
	wardlet_add_c(&b, "0123456789012é");
	WARDLET_CHECK(wardlet_is(wardlet_built(&b), "n = -420123456789012") && b.cut, "got %s", string(wardlet_built(&b)));
	wardlet_add_c(&b, "x");
	WARDLET_CHECK(b.len == 20, "a text that was cut went on");

	wardlet_builder cut = wardlet_build(4);
	wardlet_add_c(&cut, "abc€");
	wardlet_add_c(&cut, "x"); // there is room, but it would follow a hole
	WARDLET_CHECK(wardlet_is(wardlet_built(&cut), "abc"), "a character was cut in two: %s", string(wardlet_built(&cut)));
	wardlet_builder none = wardlet_build(0);
	wardlet_add_c(&none, "a");
	WARDLET_CHECK(none.len == 0 && none.cut, "something fits into nothing");

	wardlet_text all = WARDLET_CONCAT(T("a"), T(""), wardlet_copy(T("bc")));
	WARDLET_CHECK(wardlet_is(all, "abc"), "got %s", string(all));
	return wardlet_allow();
}

static wardlet_verdict numbers(void) {
	static const struct {
		int64_t n;
		const char *want;
	} tests[] = {{0, "0"}, {9, "9"}, {10, "10"}, {-1, "-1"}, {INT64_MAX, "9223372036854775807"}, {INT64_MIN, "-9223372036854775808"}};
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		wardlet_builder b = wardlet_build(30);
		wardlet_add_int(&b, tests[i].n);
		WARDLET_CHECK(wardlet_is(wardlet_built(&b), tests[i].want), "want %s, got %s", tests[i].want, string(wardlet_built(&b)));
	}
	return wardlet_allow();
}

static wardlet_verdict json(void) {
	wardlet_builder b = wardlet_build(100);
	wardlet_add_json(&b, T("a\"b\\c\n\x1f é/"));
	WARDLET_CHECK(wardlet_is(wardlet_built(&b), "\"a\\u0022b\\u005cc\\u000a\\u001f é/\""), "got %s", string(wardlet_built(&b)));
	return wardlet_allow();
}

static wardlet_verdict greed(void) {
	for (int i = 0; i < 1000; i++) {
		char *p = wardlet_alloc(100000);
		WARDLET_CHECK((uintptr_t)p % 8 == 0 && p[0] == 0 && p[99999] == 0, "not aligned, or not zero");
		p[0] = p[99999] = 1;
	}
	return wardlet_allow();
}

static wardlet_verdict run(void) { return policy(); }
static bool setup(void) { return true; }

WARDLET_PLUGIN(setup);
WARDLET_ADMIT(run);

static void in_a_call(wardlet_verdict (*p)(void)) {
	policy = p;
	const wardlet_result *got = wardlet_test_admit(.settings = NULL);
	WARDLET_CHECK(wardlet_same(got->answer, "allow"), "got %s: %s", got->answer, got->message);
}

static void builders_keep_to_their_length(void) { in_a_call(building); }
static void numbers_are_written_in_full(void) { in_a_call(numbers); }
static void strings_of_json_are_escaped(void) { in_a_call(json); }

static void memory_has_an_end(void) {
	policy = greed;
	const wardlet_result *got = wardlet_test_admit(.settings = NULL);
	WARDLET_CHECK(wardlet_same(got->failure, "MemoryLimit"), "got %s, %s", got->answer, got->failure);
}

int main(void) {
	WARDLET_RUN(texts_are_compared_by_their_bytes);
	WARDLET_RUN(slices_stay_within_the_text);
	WARDLET_RUN(searches_find_the_place_or_nothing);
	WARDLET_RUN(bytes_are_found_in_texts_of_every_length);
	WARDLET_RUN(globs_match_whole_texts);
	WARDLET_RUN(globs_match_as_their_definition_says);
	WARDLET_RUN(builders_keep_to_their_length);
	WARDLET_RUN(numbers_are_written_in_full);
	WARDLET_RUN(strings_of_json_are_escaped);
	WARDLET_RUN(memory_has_an_end);
	return wardlet_test_end();
}
