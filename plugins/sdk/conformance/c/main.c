// The conformance guest of the C SDK: settings.behaviour says what it does. The README of the folder above has all behaviours;
// the modules of the same names do the same.

#include "render.h"
#include "settings.h"
#include "wardlet.h"

static bool refused(const char *at) { return behaves("refuse") && wardlet_is(text("at"), at); }

static bool check(void) { return !refused("validate") || wardlet_refuse(text("message")); }

static bool setup(void) {
	if (refused("init")) {
		return wardlet_refuse(text("message"));
	}
	if (behaves("render")) {
		declare();
	}
	return true;
}

static void patch(void) {
	if (text("patch").len > 0) {
		wardlet_patch(text("patch"));
	}
}

static wardlet_verdict answer_admit(void) {
	patch();
	switch (number("answer")) {
	case 0:
		return wardlet_allow();
	case 1:
		return wardlet_deny(terminated(text("code")), text("message"));
	case 2:
		if (number("retry") > 0) {
			wardlet_retry_after(number("retry"));
		}
		return wardlet_hold(terminated(text("code")), text("message"));
	case 3:
		return wardlet_abstain();
	}
	return wardlet_fail(text("message"));
}

static wardlet_merge_verdict answer_merge(void) {
	patch();
	int64_t answer = number("answer");
	switch (answer) {
	case -1:
		return wardlet_merge_keep_current();
	case -2:
		return wardlet_merge_reject_all(terminated(text("code")), text("message"));
	case -3:
		return wardlet_merge_abstain();
	}
	return answer < 0 ? wardlet_merge_fail(text("message")) : wardlet_merge_win((uint16_t)answer);
}

static wardlet_filter_verdict answer_filter(void) {
	switch (number("answer")) {
	case 0:
		return wardlet_filter_pass();
	case 1:
		return wardlet_filter_because(wardlet_filter_drop(), terminated(text("code")), text("message"));
	case 2:
		return wardlet_filter_because(wardlet_filter_defer(number("retry")), terminated(text("code")), text("message"));
	case 3:
		return wardlet_filter_abstain();
	}
	return wardlet_filter_fail(text("message"));
}

static wardlet_connect_verdict answer_connect(void) {
	switch (number("answer")) {
	case 0:
		return wardlet_connect_allow();
	case 1:
		return wardlet_connect_deny(terminated(text("code")), text("message"));
	case 3:
		return wardlet_connect_abstain();
	}
	return wardlet_connect_fail(text("message"));
}

// hand hands over the texts that the settings name.
static void hand(void) {
	wardlet_value warnings, annotations;
	wardlet_strings_setting("warnings", &warnings);
	wardlet_iterator all = wardlet_list(warnings);
	for (wardlet_text warning; wardlet_next_string(&all, &warning);) {
		wardlet_warn(warning);
	}
	wardlet_map_setting("annotations", &annotations);
	all = wardlet_map(annotations);
	for (wardlet_text key, value; wardlet_next_entry(&all, &key, &value);) {
		wardlet_annotate(key, value);
	}
	wardlet_text explanation;
	if (wardlet_string_setting("explanation", &explanation)) {
		wardlet_explain(explanation);
	}
}

static void log_line(void) {
	wardlet_level level = (wardlet_level)number("level");
	if (wardlet_log_enabled(level)) {
		wardlet_log(level, text("line"));
	}
}

// explain does what is the same in every hook.
static void explain(void) {
	if (behaves("document")) {
		wardlet_text json;
		wardlet_explain(wardlet_document((int32_t)number("document"), &json) ? json : WARDLET_TEXT("none"));
	} else if (behaves("render")) {
		wardlet_explain(rendered());
	}
}

static wardlet_verdict judge(void) {
	if (behaves("answer")) {
		return answer_admit();
	}
	if (behaves("texts")) {
		hand();
	} else if (behaves("log")) {
		log_line();
	}
	explain();
	return wardlet_allow();
}

static wardlet_merge_verdict choose(void) {
	if (behaves("answer")) {
		return answer_merge();
	}
	explain();
	return wardlet_merge_win(0);
}

static wardlet_filter_verdict sift(void) {
	if (behaves("answer")) {
		return answer_filter();
	}
	explain();
	return wardlet_filter_pass();
}

static wardlet_connect_verdict decide(void) {
	if (behaves("answer")) {
		return answer_connect();
	}
	explain();
	return wardlet_connect_allow();
}

WARDLET_PLUGIN(setup);
WARDLET_VALIDATE_SETTINGS(check);
WARDLET_ADMIT(judge);
WARDLET_MERGE(choose);
WARDLET_FILTER(sift);
WARDLET_CONNECT(decide);
