// Settings.

#include "wardlet_test.h"

#define T(literal) WARDLET_TEXT(literal)

static bool (*check)(void), (*setup_too)(void);
static bool validate(void) { return check == NULL || check(); }
static bool setup(void) { return setup_too(); }
static wardlet_verdict judge(void) { return wardlet_allow(); }

WARDLET_PLUGIN(setup);
WARDLET_VALIDATE_SETTINGS(validate);
WARDLET_ADMIT(judge);

static const wardlet_result *load(bool (*s)(void), const char *settings) {
	setup_too = s;
	return wardlet_test_load(settings);
}

static void loaded(bool (*s)(void), const char *settings) {
	const wardlet_result *got = load(s, settings);
	WARDLET_CHECK(wardlet_same(got->answer, "loaded"), "got %s: %s", got->answer, got->message);
}

#define LONG "long long long long long long long long long long long long long long long long long long long long long long long"

static bool read_all(void) {
	wardlet_text s;
	bool b;
	int64_t n;
	wardlet_value v;
	WARDLET_CHECK(wardlet_string_setting("name", &s) && wardlet_is(s, "x"), "name");
	WARDLET_CHECK(wardlet_string_setting("empty", &s) && s.len == 0, "empty");
	WARDLET_CHECK(wardlet_string_setting("long", &s) && wardlet_is(s, LONG), "long");
	WARDLET_CHECK(wardlet_string_setting("registries.main", &s) && wardlet_is(s, "r.example"), "registries.main");
	WARDLET_CHECK(wardlet_string_setting("patterns['app.kubernetes.io/name']", &s) && wardlet_is(s, "b"), "a quoted key");
	WARDLET_CHECK(wardlet_bool_setting("on", &b) && b && wardlet_bool_setting("off", &b) && !b, "bools");
	WARDLET_CHECK(wardlet_int_setting("max", &n) && n == 7 && wardlet_int_setting("registries.ports.https", &n) && n == 443, "integers");
	WARDLET_CHECK(wardlet_strings_setting("none", &v) && wardlet_count(v) == 0, "an empty list");
	WARDLET_CHECK(wardlet_strings_setting("allow", &v) && wardlet_count(v) == 2, "a list");
	wardlet_iterator all = wardlet_list(v);
	WARDLET_CHECK(wardlet_next_string(&all, &s) && wardlet_is(s, "a") && wardlet_next_string(&all, &s) && wardlet_is(s, "b"), "its elements");
	WARDLET_CHECK(wardlet_map_setting("patterns", &v) && wardlet_lookup(v, T("team"), &s) && wardlet_is(s, "a*"), "a table");
	WARDLET_CHECK(wardlet_json_setting("registries", &s) && wardlet_is(s, "{\"main\":\"r.example\",\"ports\":{\"https\":443}}"), "a mixed table");
	return true;
}

static void settings_are_those_of_the_document(void) {
	loaded(read_all, "{'name': 'x', 'on': true, 'off': false, 'max': 7, 'empty': '', 'none': [], 'long': '" LONG "', 'allow': ['a', 'b'], \
		'patterns': {'team': 'a*', 'app.kubernetes.io/name': 'b'}, 'registries': {'main': 'r.example', 'ports': {'https': 443}}}");
}

static bool read_none(void) {
	static const char *const paths[] = {"x", "table.b", "table.a.b", "a..b", "table[0]", "table[*]", ".table", "table."};
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		wardlet_text s = T("before");
		bool b = true;
		int64_t n = 1;
		wardlet_value v;
		WARDLET_CHECK(!wardlet_string_setting(paths[i], &s) && s.len == 0 && !wardlet_bool_setting(paths[i], &b) && !b &&
			!wardlet_int_setting(paths[i], &n) && n == 0 && !wardlet_strings_setting(paths[i], &v) && wardlet_count(v) == 0 &&
			!wardlet_map_setting(paths[i], &v) && wardlet_count(v) == 0 && !wardlet_json_setting(paths[i], &s), "%s is there", paths[i]);
	}
	return true;
}

static void settings_that_are_not_there_are_no_error(void) { loaded(read_none, "{'table': {'a': 1}}"); }

static bool read_whole(void) {
	wardlet_text json;
	WARDLET_CHECK(wardlet_json_setting("", &json) && wardlet_is(json, "{\"a\":\"x\"}"), "got %.*s", (int)json.len, json.at);
	return true;
}

static void the_empty_path_is_the_whole_table(void) { loaded(read_whole, "{'a': 'x'}"); }

static bool string_of(void) {
	wardlet_text s;
	return wardlet_string_setting("it", &s) && wardlet_refuse(T("the value was given"));
}
static bool bool_of(void) {
	bool b;
	return wardlet_bool_setting("it", &b) && wardlet_refuse(T("the value was given"));
}
static bool int_of(void) {
	int64_t n;
	return wardlet_int_setting("it", &n) && wardlet_refuse(T("the value was given"));
}
static bool strings_of(void) {
	wardlet_value v;
	return wardlet_strings_setting("it", &v) && wardlet_refuse(T("the value was given"));
}
static bool map_of(void) {
	wardlet_value v;
	return wardlet_map_setting("it", &v) && wardlet_refuse(T("the value was given"));
}

static void a_setting_of_another_type_refuses_the_document(void) {
	static const struct {
		bool (*setup)(void);
		const char *settings, *want;
	} tests[] = {
		{bool_of, "{'it': 'true'}", "setting it must be a bool, but it is a string"},
		{int_of, "{'it': 1.5}", "setting it must be an integer, but it is a float"},
		{strings_of, "{'it': 'a'}", "setting it must be a list, but it is a string"},
		{strings_of, "{'it': ['a', 1]}", "setting it must be a list of strings, but it holds an integer"},
		{string_of, "{'it': ['a']}", "setting it must be a string, but it is a list"},
		{map_of, "{'it': {'a': 1}}", "setting it must be a map of strings, but it is a JSON value"},
	};
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		const wardlet_result *got = load(tests[i].setup, tests[i].settings);
		WARDLET_CHECK(wardlet_same(got->failure, "PluginError") && wardlet_same(got->message, tests[i].want), "got %s, %s, want %s", got->answer,
			got->message, tests[i].want);
	}
}

static bool refuses(void) { return wardlet_refuse(T("settings.max must be positive")); }
static bool silent(void) { return false; }
static bool good(void) { return true; }

static void setup_refuses_with_its_reason(void) {
	WARDLET_CHECK(wardlet_same(load(refuses, NULL)->message, "settings.max must be positive"), "the reason is another");
	WARDLET_CHECK(wardlet_has(load(silent, NULL)->message, "without saying why"), "no reason");
	setup_too = refuses;
	const wardlet_result *got = wardlet_test_admit(.settings = NULL);
	WARDLET_CHECK(wardlet_same(got->failure, "PluginError"), "a plugin that refused was asked: %s", got->answer);
}

static bool declares(void) {
	wardlet_declare("object.metadata.name");
	return true;
}

static void settings_are_validated_before_setup(void) {
	check = refuses;
	WARDLET_CHECK(wardlet_same(load(silent, NULL)->message, "settings.max must be positive"), "the reason is another");
	check = declares;
	WARDLET_CHECK(wardlet_has(load(good, NULL)->message, "declared at the wrong time"), "a field was declared");
	check = good;
	WARDLET_CHECK(wardlet_same(load(good, NULL)->answer, "loaded"), "refused");
	check = NULL;
}

int main(void) {
	WARDLET_RUN(settings_are_those_of_the_document);
	WARDLET_RUN(settings_that_are_not_there_are_no_error);
	WARDLET_RUN(the_empty_path_is_the_whole_table);
	WARDLET_RUN(a_setting_of_another_type_refuses_the_document);
	WARDLET_RUN(setup_refuses_with_its_reason);
	WARDLET_RUN(settings_are_validated_before_setup);
	return wardlet_test_end();
}
