// A plugin with every hook, lazy fields, documents and patches.

#include "wardlet.h"

#define T(literal) WARDLET_TEXT(literal)

static wardlet_field hook, changed, kinds, running;
static wardlet_lazy_field name, images, node, operation;

static bool check(void) {
	wardlet_text levels;
	return wardlet_json_setting("levels", &levels) || wardlet_refuse(T("settings.levels is missing"));
}

static bool setup(void) {
	name = wardlet_declare_lazy("object.metadata.name");
	hook = wardlet_declare("request.hook");
	images = wardlet_declare_lazy("object.spec.containers[*].image");
	changed = wardlet_declare("request.changed");
	kinds = wardlet_declare("candidates[*].kind");
	running = wardlet_declare("candidates[*].running");
	node = wardlet_declare_lazy("request.node");
	operation = wardlet_declare_lazy("request.operation");
	wardlet_text all;
	if (wardlet_json_setting("", &all) && wardlet_log_enabled(WARDLET_INFO)) {
		wardlet_log(WARDLET_INFO, WARDLET_CONCAT(T("settings "), all));
	}
	return true;
}

static bool holds(int32_t document, const char *part) {
	wardlet_text json;
	return wardlet_document(document, &json) && wardlet_find(json, wardlet_c(part)) != WARDLET_NONE;
}

static wardlet_verdict judge(void) {
	if (!holds(WARDLET_OBJECT, "\"containers\":[{") || !holds(WARDLET_REQUEST, "\"hook\":\"admit\"") || holds(WARDLET_OLD_OBJECT, "") ||
		holds(WARDLET_NODE, "") || holds(WARDLET_CANDIDATE(0), "")) {
		return wardlet_deny("Documents", T("other documents than expected"));
	}
	wardlet_builder value = wardlet_build(100), patch = wardlet_build(300);
	wardlet_iterator all = wardlet_list(wardlet_fetch(images));
	for (wardlet_text image; wardlet_next_string(&all, &image);) {
		wardlet_add(&value, image);
		wardlet_add_c(&value, " ");
	}
	wardlet_add_c(&value, "\"\"");
	wardlet_add_c(&patch, "[{\"op\":\"add\",\"path\":\"/metadata/labels/images\",\"value\":");
	wardlet_add_json(&patch, wardlet_built(&value));
	wardlet_add_c(&patch, "}]");
	wardlet_patch(wardlet_built(&patch));
	wardlet_warn(WARDLET_CONCAT(wardlet_string(wardlet_fetch(name)), T(" on "), wardlet_string(wardlet_fetch(node))));
	wardlet_annotate(T("request"), WARDLET_CONCAT(wardlet_string(wardlet_read(hook)), T(" "), wardlet_string(wardlet_fetch(operation))));
	return wardlet_allow();
}

static wardlet_merge_verdict choose(void) {
	wardlet_zip all = wardlet_zip_of(wardlet_read(kinds), wardlet_read(running));
	uint16_t i = 0;
	for (wardlet_value kind, runs; wardlet_next_pair(&all, &kind, &runs); i++) {
		if (wardlet_is(wardlet_string(kind), "api") && wardlet_bool(runs) && holds(WARDLET_CANDIDATE(i), "\"kind\":\"Pod\"")) {
			return wardlet_merge_win(i);
		}
	}
	return wardlet_merge_reject_all("NoneRuns", T("none of them runs"));
}

static wardlet_filter_verdict sift(void) {
	wardlet_iterator all = wardlet_list(wardlet_read(changed));
	for (wardlet_text word; wardlet_next_string(&all, &word);) {
		if (wardlet_is(word, "images") && holds(WARDLET_OLD_OBJECT, "\"image\":\"b\"")) {
			return wardlet_filter_defer(90000);
		}
	}
	return wardlet_filter_pass();
}

WARDLET_PLUGIN(setup);
WARDLET_VALIDATE_SETTINGS(check);
WARDLET_ADMIT(judge);
WARDLET_MERGE(choose);
WARDLET_FILTER(sift);
