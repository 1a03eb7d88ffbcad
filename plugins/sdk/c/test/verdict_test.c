// What hooks answer, and what is said beside the answer.

#include "wardlet_test.h"

#define T(literal) WARDLET_TEXT(literal)

static wardlet_verdict (*judge)(void);
static wardlet_merge_verdict (*choose)(void);
static wardlet_filter_verdict (*sift)(void);
static wardlet_connect_verdict (*decide)(void);

static bool setup(void) { return true; }
static wardlet_verdict run_admit(void) { return judge(); }
static wardlet_merge_verdict run_merge(void) { return choose(); }
static wardlet_filter_verdict run_filter(void) { return sift(); }
static wardlet_connect_verdict run_connect(void) { return decide(); }

WARDLET_PLUGIN(setup);
WARDLET_ADMIT(run_admit);
WARDLET_MERGE(run_merge);
WARDLET_FILTER(run_filter);
WARDLET_CONNECT(run_connect);

static wardlet_verdict deny(void) { return wardlet_deny("TooBig", T("too big")); }
static wardlet_verdict hold(void) { return wardlet_hold("TooEarly", T("")); }
static wardlet_verdict fail(void) { return wardlet_fail(T("no idea")); }
static wardlet_verdict none(void) { return (wardlet_verdict){0}; }
static wardlet_verdict trap(void) {
	__builtin_trap();
	return wardlet_allow();
}
static wardlet_verdict wait_a_minute(void) {
	wardlet_retry_after(60000);
	return hold();
}
static wardlet_verdict wait_less_than_nothing(void) {
	wardlet_retry_after(-1);
	return hold();
}

static void verdicts_arrive_as_they_were_given(void) {
	static const struct {
		wardlet_verdict (*judge)(void);
		const char *answer, *failure, *code, *message;
		int64_t retry;
	} tests[] = {
		{wardlet_allow, "allow", "", "", "", -1},
		{wardlet_abstain, "abstain", "", "", "", -1},
		{deny, "deny", "", "TooBig", "too big", -1},
		{hold, "hold", "", "TooEarly", "", -1},
		{wait_a_minute, "hold", "", "TooEarly", "", 60000},
		{wait_less_than_nothing, "hold", "", "TooEarly", "", 0},
		{fail, "failed", "PluginError", "", "no idea", -1},
		{none, "failed", "PluginError", "", "the policy returned no verdict: return what one of the verdicts' functions gives", -1},
		{trap, "failed", "Trap", "", "", -1},
	};
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		judge = tests[i].judge;
		const wardlet_result *got = wardlet_test_admit(.settings = NULL);
		WARDLET_CHECK(wardlet_same(got->answer, tests[i].answer) && wardlet_same(got->failure, tests[i].failure) &&
			wardlet_same(got->code, tests[i].code) && wardlet_same(got->message, tests[i].message) && got->retry_after_ms == tests[i].retry,
			"%zu: got %s, %s, %s, %s, %lld", i, got->answer, got->failure, got->code, got->message, (long long)got->retry_after_ms);
	}
}

static wardlet_merge_verdict win(void) { return wardlet_merge_win(1); }
static wardlet_merge_verdict win_too_far(void) { return wardlet_merge_win(2); }
static wardlet_merge_verdict reject(void) { return wardlet_merge_reject_all("Unclear", T("which one?")); }
static wardlet_merge_verdict cannot(void) { return wardlet_merge_fail(T("no idea")); }
static wardlet_merge_verdict unsaid(void) { return (wardlet_merge_verdict){0}; }
static wardlet_merge_verdict patching(void) {
	wardlet_builder b = wardlet_build(200);
	wardlet_add_c(&b, "[{\"op\": \"add\", \"path\": \"/metadata/labels/a\", \"value\": ");
	wardlet_add_json(&b, T("it's \"x\""));
	wardlet_add_c(&b, "}]");
	wardlet_patch(wardlet_built(&b));
	return wardlet_merge_win(0);
}

static void a_merge_chooses_among_its_candidates(void) {
	static const struct {
		wardlet_merge_verdict (*choose)(void);
		bool nothing_runs;
		const char *answer, *failure, *message;
	} tests[] = {
		{win, true, "win 1", "", ""},
		{win_too_far, false, "failed", "BadOutput", "there is no such candidate"},
		{wardlet_merge_keep_current, false, "keep current", "", ""},
		{wardlet_merge_keep_current, true, "failed", "BadOutput", "an answer that means nothing here"},
		{reject, false, "reject all", "", "which one?"},
		{wardlet_merge_abstain, false, "abstain", "", ""},
		{cannot, false, "failed", "PluginError", "no idea"},
		{unsaid, false, "failed", "PluginError", "the policy returned no verdict: return what one of the verdicts' functions gives"},
	};
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		choose = tests[i].choose;
		const wardlet_result *got = wardlet_test_merge(.candidates = {"{}", "{}"}, .nothing_runs = tests[i].nothing_runs);
		WARDLET_CHECK(wardlet_same(got->answer, tests[i].answer) && wardlet_same(got->failure, tests[i].failure) &&
			wardlet_same(got->message, tests[i].message), "%zu: got %s, %s, %s", i, got->answer, got->failure, got->message);
	}
}

static wardlet_filter_verdict defer(void) { return wardlet_filter_defer(5000); }
static wardlet_filter_verdict closed(void) { return wardlet_filter_because(wardlet_filter_drop(), "Closed", T("not now")); }
static wardlet_filter_verdict later(void) { return wardlet_filter_because(wardlet_filter_defer(5000), "Closed", T("not now")); }
static wardlet_filter_verdict open(void) { return wardlet_filter_because(wardlet_filter_pass(), "Open", T("never shown")); }
static wardlet_filter_verdict astray(void) { return wardlet_filter_because(wardlet_filter_fail(T("no idea")), "Closed", T("not now")); }
static wardlet_filter_verdict lost(void) { return wardlet_filter_fail(T("no idea")); }

static void a_filter_passes_or_holds_back(void) {
	static const struct {
		wardlet_filter_verdict (*sift)(void);
		const char *answer;
		int64_t retry;
		const char *code, *message;
	} tests[] = {
		{wardlet_filter_pass, "pass", -1, "", ""}, {wardlet_filter_drop, "drop", -1, "", ""}, {defer, "defer", 5000, "", ""},
		{closed, "drop", -1, "Closed", "not now"}, {later, "defer", 5000, "Closed", "not now"}, {open, "pass", -1, "", ""},
		{wardlet_filter_abstain, "abstain", -1, "", ""}, {lost, "failed", -1, "", "no idea"}, {astray, "failed", -1, "", "no idea"},
	};
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		sift = tests[i].sift;
		const wardlet_result *got = wardlet_test_filter(.settings = NULL);
		WARDLET_CHECK(wardlet_same(got->answer, tests[i].answer) && got->retry_after_ms == tests[i].retry &&
			wardlet_same(got->code, tests[i].code) && wardlet_same(got->message, tests[i].message), "%zu: got %s, %lld, %s, %s", i, got->answer,
			(long long)got->retry_after_ms, got->code, got->message);
	}
}

static wardlet_connect_verdict refused(void) { return wardlet_connect_deny("NoExec", T("not here")); }
static wardlet_connect_verdict unsure(void) { return wardlet_connect_fail(T("no idea")); }
static wardlet_connect_verdict waiting(void) { return (wardlet_connect_verdict){{.given = true, .answer = 2}}; }

static void a_connection_is_made_or_not(void) {
	static const struct {
		wardlet_connect_verdict (*decide)(void);
		const char *answer, *failure, *code, *message;
	} tests[] = {
		{wardlet_connect_allow, "allow", "", "", ""}, {refused, "deny", "", "NoExec", "not here"},
		{wardlet_connect_abstain, "abstain", "", "", ""}, {unsure, "failed", "PluginError", "", "no idea"},
		{waiting, "failed", "BadOutput", "", "an answer that means nothing here"},
	};
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		decide = tests[i].decide;
		const wardlet_result *got = wardlet_test_connect(.settings = NULL);
		WARDLET_CHECK(wardlet_same(got->answer, tests[i].answer) && wardlet_same(got->failure, tests[i].failure) &&
			wardlet_same(got->code, tests[i].code) && wardlet_same(got->message, tests[i].message), "%zu: got %s, %s, %s, %s", i, got->answer,
			got->failure, got->code, got->message);
	}
}

static wardlet_verdict notes(void) {
	wardlet_warn(T("one"));
	wardlet_warn(T("two"));
	wardlet_annotate(T("k"), T("v"));
	wardlet_annotate(T("l"), T(""));
	wardlet_annotate(T("k"), T("w"));
	wardlet_explain(T("first"));
	wardlet_explain(T("second"));
	wardlet_log(WARDLET_DEBUG, T("a"));
	wardlet_log(WARDLET_ERROR, T("b"));
	WARDLET_CHECK(wardlet_log_enabled(WARDLET_INFO) && !wardlet_log_enabled((wardlet_level)9), "levels");
	return wardlet_allow();
}

static void notes_arrive_with_the_verdict(void) {
	judge = notes;
	const wardlet_result *got = wardlet_test_admit(.settings = NULL);
	WARDLET_CHECK(got->warnings == 2 && wardlet_same(got->warning[0], "one") && wardlet_same(got->warning[1], "two"), "%d warnings", got->warnings);
	WARDLET_CHECK(got->annotations == 2 && wardlet_same(got->key[0], "k") && wardlet_same(got->value[0], "w") && wardlet_same(got->key[1], "l") &&
		wardlet_same(got->value[1], ""), "%d annotations", got->annotations);
	WARDLET_CHECK(wardlet_same(got->explanation, "second") && wardlet_same(got->log, "debug: a\nerror: b\n"), "%s, %s", got->explanation, got->log);
	choose = patching;
	got = wardlet_test_merge(.candidates = {"{}"});
	WARDLET_CHECK(wardlet_same(got->answer, "failed") && wardlet_same(got->failure, "BadOutput"), "an apostrophe is taken for a quote: %s", got->answer);
}

static wardlet_verdict no_array(void) {
	wardlet_patch(T("{}"));
	return wardlet_allow();
}
static wardlet_verdict no_path(void) {
	wardlet_patch(T("[{\"op\": \"add\"}]"));
	return wardlet_allow();
}
static wardlet_verdict no_op(void) {
	wardlet_patch(T("[{\"op\": \"move\", \"path\": \"/a\"}]"));
	return wardlet_allow();
}
static wardlet_verdict too_long(void) {
	wardlet_explain((wardlet_text){wardlet_alloc(65537), 65537});
	return wardlet_allow();
}
static wardlet_verdict too_many_warnings(void) {
	for (int i = 0; i < 65; i++) {
		wardlet_warn(T("w"));
	}
	return wardlet_allow();
}
static wardlet_verdict no_key(void) {
	wardlet_annotate(T(""), T("v"));
	return wardlet_allow();
}
static wardlet_verdict no_level(void) {
	wardlet_log((wardlet_level)4, T("v"));
	return wardlet_allow();
}

static void what_the_agent_does_not_take_fails_the_call(void) {
	static wardlet_verdict (*const tests[])(void) = {no_array, no_path, no_op, too_long, too_many_warnings, no_key, no_level};
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		judge = tests[i];
		const wardlet_result *got = wardlet_test_admit(.settings = NULL);
		WARDLET_CHECK(wardlet_same(got->answer, "failed") && wardlet_same(got->failure, "BadOutput"), "%zu: got %s, %s", i, got->answer, got->failure);
	}
}

static int calls;

static wardlet_verdict counting(void) {
	calls++;
	wardlet_builder b = wardlet_build(10);
	wardlet_add_int(&b, calls);
	return wardlet_deny("A", wardlet_built(&b));
}

static void no_call_sees_what_another_left(void) {
	judge = counting;
	for (int i = 0; i < 2; i++) {
		WARDLET_CHECK(wardlet_same(wardlet_test_admit(.settings = NULL)->message, "1"), "round %d", i);
	}
}

int main(void) {
	WARDLET_RUN(verdicts_arrive_as_they_were_given);
	WARDLET_RUN(a_merge_chooses_among_its_candidates);
	WARDLET_RUN(a_filter_passes_or_holds_back);
	WARDLET_RUN(a_connection_is_made_or_not);
	WARDLET_RUN(notes_arrive_with_the_verdict);
	WARDLET_RUN(what_the_agent_does_not_take_fails_the_call);
	WARDLET_RUN(no_call_sees_what_another_left);
	return wardlet_test_end();
}
