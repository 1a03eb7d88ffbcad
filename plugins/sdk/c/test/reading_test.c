// Fields: reading them as what they are, and as what they are not.

#include "wardlet_test.h"

#define T(literal) WARDLET_TEXT(literal)

static wardlet_field name, labels, network, grace, names, images, ports, containers, context, volumes, old_name, never;
static wardlet_lazy_field lazy_name, lazy_images, lazy_none, never_lazy;
static wardlet_verdict (*policy)(void);
static bool (*setup_too)(void);

static bool setup(void) {
	name = wardlet_declare("object.metadata.name");
	lazy_name = wardlet_declare_lazy("object.metadata.annotations['long']");
	labels = wardlet_declare("object.metadata.labels");
	network = wardlet_declare("object.spec.hostNetwork");
	lazy_images = wardlet_declare_lazy("object.spec.initContainers[*].image");
	grace = wardlet_declare("object.spec.terminationGracePeriodSeconds");
	names = wardlet_declare("object.spec.@containers[*].name");
	images = wardlet_declare("object.spec.@containers[*].image");
	ports = wardlet_declare("object.spec.containers[*].ports[*].hostPort");
	containers = wardlet_declare("object.spec.containers");
	context = wardlet_declare("object.spec.securityContext");
	volumes = wardlet_declare("object.spec.volumes[*].name");
	old_name = wardlet_declare("oldObject.metadata.name");
	lazy_none = wardlet_declare_lazy("node.name");
	return setup_too == NULL || setup_too();
}

static wardlet_verdict run(void) { return policy(); }

WARDLET_PLUGIN(setup);
WARDLET_ADMIT(run);

#define WEB "{ \
	'object.metadata.name': 'web', \
	\"object.metadata.annotations['long']\": 'lazy', \
	'object.metadata.labels': {'tier': '', 'app': 'web', 'application': 'x'}, \
	'object.spec.hostNetwork': true, \
	'object.spec.initContainers[*].image': ['i'], \
	'object.spec.terminationGracePeriodSeconds': -30, \
	'object.spec.@containers[*].name': ['init', 'a', 'b'], \
	'object.spec.@containers[*].image': ['i', 'x', null], \
	'object.spec.containers[*].ports[*].hostPort': [[80, null], []], \
	'object.spec.containers': [{'@json': {'name': 'a', 'n': 1}}], \
	'object.spec.securityContext': {'@json': {'runAsUser': 7}}, \
	'oldObject.metadata.name': 'older' }"

static const wardlet_result *judge(wardlet_verdict (*p)(void), const char *fields) {
	policy = p;
	return wardlet_test_admit(.fields = fields, .object = "{'kind': 'Pod', 'spec': {'n': [1, -2.5, true, null, 'a\\u00e9\\n']}}",
		.candidates = {"{}", "{'kind': 'x'}"});
}

static void allowed(wardlet_verdict (*p)(void), const char *fields) {
	const wardlet_result *got = judge(p, fields);
	WARDLET_CHECK(wardlet_same(got->answer, "allow"), "got %s: %s: %s", got->answer, got->failure, got->message);
}

static wardlet_verdict values(void) {
	WARDLET_CHECK(wardlet_is(wardlet_string(wardlet_read(name)), "web"), "name");
	WARDLET_CHECK(wardlet_is(wardlet_string(wardlet_read(old_name)), "older"), "old name");
	WARDLET_CHECK(wardlet_bool(wardlet_read(network)), "hostNetwork");
	WARDLET_CHECK(wardlet_int(wardlet_read(grace)) == -30, "grace");
	WARDLET_CHECK(wardlet_is(wardlet_json(wardlet_read(context)), "{\"runAsUser\":7}"), "security context");
	WARDLET_CHECK(wardlet_count(wardlet_read(images)) == 3 && wardlet_count(wardlet_read(labels)) == 3, "counts");
	WARDLET_CHECK(wardlet_exists(wardlet_read(name)) && !wardlet_exists(wardlet_read(volumes)), "exists");
	return wardlet_allow();
}

static wardlet_verdict lists(void) {
	wardlet_iterator all = wardlet_list(wardlet_read(images));
	int n = 0, there = 0;
	for (wardlet_value image; wardlet_next(&all, &image); n++) {
		there += wardlet_exists(image);
	}
	WARDLET_CHECK(n == 3 && there == 2, "%d elements, %d that exist", n, there);

	all = wardlet_list(wardlet_read(images));
	wardlet_builder b = wardlet_build(10);
	for (wardlet_text image; wardlet_next_string(&all, &image);) {
		wardlet_add(&b, image);
	}
	WARDLET_CHECK(wardlet_is(wardlet_built(&b), "ix"), "the missing one was not left out");

	int64_t sum = 0;
	all = wardlet_list(wardlet_read(ports));
	for (wardlet_value of; wardlet_next(&all, &of);) {
		wardlet_iterator inner = wardlet_list(of);
		for (wardlet_value port; wardlet_next(&inner, &port);) {
			sum += 1000 + wardlet_int(port);
		}
	}
	WARDLET_CHECK(sum == 2080, "host ports: %lld", (long long)sum);
	return wardlet_allow();
}

static wardlet_verdict maps(void) {
	wardlet_iterator all = wardlet_map(wardlet_read(labels));
	wardlet_builder b = wardlet_build(100);
	for (wardlet_text key, value; wardlet_next_entry(&all, &key, &value);) {
		wardlet_add(&b, WARDLET_CONCAT(key, T("="), value, T(" ")));
	}
	WARDLET_CHECK(wardlet_is(wardlet_built(&b), "app=web application=x tier= "), "%.*s", (int)b.len, b.at);
	wardlet_text value;
	WARDLET_CHECK(wardlet_lookup(wardlet_read(labels), T("app"), &value) && wardlet_is(value, "web"), "app");
	WARDLET_CHECK(wardlet_lookup(wardlet_read(labels), T("tier"), &value) && value.len == 0, "an empty label");
	WARDLET_CHECK(!wardlet_lookup(wardlet_read(labels), T("ap"), &value) && value.len == 0, "no such label");
	return wardlet_allow();
}

static wardlet_verdict zips(void) {
	wardlet_zip pairs = wardlet_zip_of(wardlet_read(names), wardlet_read(images));
	wardlet_builder b = wardlet_build(100);
	for (wardlet_value n, i; wardlet_next_pair(&pairs, &n, &i);) {
		wardlet_add(&b, WARDLET_CONCAT(wardlet_string(n), T("="), wardlet_string(i), T(" ")));
	}
	WARDLET_CHECK(wardlet_is(wardlet_built(&b), "init=i a=x b= "), "%.*s", (int)b.len, b.at);
	return wardlet_allow();
}

static wardlet_verdict empties(void) {
	wardlet_text value;
	WARDLET_CHECK(wardlet_string(wardlet_read(name)).len == 0 && wardlet_int(wardlet_read(grace)) == 0 && !wardlet_bool(wardlet_read(network)) &&
		wardlet_json(wardlet_read(context)).len == 0 && wardlet_count(wardlet_read(images)) == 0 &&
		!wardlet_lookup(wardlet_read(labels), T("app"), &value) && wardlet_float(wardlet_read(grace)) == 0, "a missing field has a value");
	wardlet_zip pairs = wardlet_zip_of(wardlet_read(names), wardlet_read(images));
	wardlet_value a, b;
	wardlet_iterator all = wardlet_list(wardlet_read(images));
	WARDLET_CHECK(!wardlet_next_pair(&pairs, &a, &b) && !wardlet_next_string(&all, &value), "a missing list has an element");
	return wardlet_allow();
}

static wardlet_verdict lazies(void) {
	for (int i = 0; i < 2; i++) {
		WARDLET_CHECK(wardlet_is(wardlet_string(wardlet_fetch(lazy_name)), "lazy"), "round %d", i);
		WARDLET_CHECK(wardlet_count(wardlet_fetch(lazy_images)) == 1, "round %d", i);
		WARDLET_CHECK(!wardlet_exists(wardlet_fetch(lazy_none)), "round %d", i);
	}
	WARDLET_CHECK(wardlet_fetch(lazy_name).at == wardlet_fetch(lazy_name).at, "the agent was asked again");
	WARDLET_CHECK(wardlet_is(wardlet_string(wardlet_read(name)), "web"), "the fields of the record are others now");
	return wardlet_allow();
}

static wardlet_verdict documents(void) {
	wardlet_text json;
	WARDLET_CHECK(wardlet_document(WARDLET_OBJECT, &json) &&
		wardlet_is(json, "{\"kind\":\"Pod\",\"spec\":{\"n\":[1,-2.5,true,null,\"aé\\u000a\"]}}"), "%.*s", (int)json.len, json.at);
	WARDLET_CHECK(wardlet_document(WARDLET_CANDIDATE(1), &json) && wardlet_is(json, "{\"kind\":\"x\"}"), "a candidate");
	WARDLET_CHECK(!wardlet_document(WARDLET_CANDIDATE(2), &json) && json.len == 0, "a candidate that is not there");
	WARDLET_CHECK(!wardlet_document(WARDLET_OLD_OBJECT, &json) && !wardlet_document(99, &json), "documents that are not there");
	return wardlet_allow();
}

static void fields_have_the_values_of_the_pod(void) { allowed(values, WEB); }
static void lists_have_all_elements(void) { allowed(lists, WEB); }
static void maps_have_all_entries(void) { allowed(maps, WEB); }
static void zips_go_through_two_lists_side_by_side(void) { allowed(zips, WEB); }
static void missing_fields_read_as_empty(void) { allowed(empties, "{}"); }
static void lazy_fields_are_fetched(void) { allowed(lazies, WEB); }
static void documents_come_as_json(void) { allowed(documents, "{}"); }

static void kinds(void) {
	WARDLET_CHECK(wardlet_read(name).kind == WARDLET_STRING && wardlet_read(network).kind == WARDLET_BOOL &&
		wardlet_read(grace).kind == WARDLET_INT && wardlet_read(images).kind == WARDLET_LIST && wardlet_read(labels).kind == WARDLET_MAP &&
		wardlet_read(context).kind == WARDLET_JSON && wardlet_read(volumes).kind == WARDLET_MISSING, "another kind");
}

static wardlet_verdict of_kinds(void) {
	kinds();
	return wardlet_allow();
}

static void kinds_say_what_a_field_is(void) { allowed(of_kinds, WEB); }

// Misuse: each of these reads something as what it is not.
static void string_as_int(void) { wardlet_int(wardlet_read(name)); }
static void string_as_bool(void) { wardlet_bool(wardlet_read(name)); }
static void bool_as_string(void) { wardlet_string(wardlet_read(network)); }
static void int_as_map(void) {
	wardlet_text v;
	wardlet_lookup(wardlet_read(grace), T("x"), &v);
}
static void map_as_list(void) { wardlet_list(wardlet_read(labels)); }
static void string_counted(void) { wardlet_count(wardlet_read(name)); }
static void list_as_json(void) { wardlet_json(wardlet_read(containers)); }
static void int_as_float(void) { wardlet_float(wardlet_read(grace)); }
static void json_as_strings(void) {
	wardlet_iterator all = wardlet_list(wardlet_read(containers));
	wardlet_text t;
	WARDLET_CHECK(!wardlet_next_string(&all, &t), "a string");
}
static void lists_as_strings(void) {
	wardlet_iterator all = wardlet_list(wardlet_read(ports));
	wardlet_text t;
	WARDLET_CHECK(!wardlet_next_string(&all, &t), "a string");
}
static void uneven_lists(void) {
	wardlet_zip z = wardlet_zip_of(wardlet_read(images), wardlet_read(ports));
	wardlet_value a, b;
	WARDLET_CHECK(!wardlet_next_pair(&z, &a, &b), "a pair");
}
static void lazy_as_int(void) { wardlet_int(wardlet_fetch(lazy_name)); }
static void undeclared(void) { wardlet_read(never); }
static void undeclared_lazy(void) { wardlet_fetch(never_lazy); }
static void declared_late(void) { wardlet_declare("object.spec.priority"); }
static void two_mistakes(void) {
	string_as_int();
	bool_as_string();
	undeclared();
}

static void (*misuse)(void);

static wardlet_verdict misusing(void) {
	misuse();
	return wardlet_allow();
}

static void misuse_fails_the_call_whatever_it_answers(void) {
	static const struct {
		void (*misuse)(void);
		const char *want;
	} tests[] = {
		{string_as_int, "field object.metadata.name is read as an integer, but it is a string"},
		{string_as_bool, "field object.metadata.name is read as a bool, but it is a string"},
		{bool_as_string, "field object.spec.hostNetwork is read as a string, but it is a bool"},
		{int_as_map, "field object.spec.terminationGracePeriodSeconds is read as a map of strings, but it is an integer"},
		{map_as_list, "field object.metadata.labels is read as a list, but it is a map of strings"},
		{string_counted, "field object.metadata.name is read as a list, but it is a string"},
		{list_as_json, "field object.spec.containers is read as a JSON value, but it is a list"},
		{int_as_float, "field object.spec.terminationGracePeriodSeconds is read as a float, but it is an integer"},
		{json_as_strings, "field object.spec.containers is read as a string, but it is a JSON value"},
		{lists_as_strings, "field object.spec.containers[*].ports[*].hostPort is read as a string, but it is a list"},
		{uneven_lists, "fields object.spec.@containers[*].image and object.spec.containers[*].ports[*].hostPort are lists of different lengths"},
		{lazy_as_int, "field object.metadata.annotations['long'] is read as an integer, but it is a string"},
		{undeclared, "a field is read that was never declared: declare fields in setup"},
		{undeclared_lazy, "a field is read that was never declared: declare fields in setup"},
		{declared_late, "field object.spec.priority is declared at the wrong time: declare fields in setup"},
		{two_mistakes, "field object.metadata.name is read as an integer, but it is a string"},
	};
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		misuse = tests[i].misuse;
		const wardlet_result *got = judge(misusing, WEB);
		WARDLET_CHECK(wardlet_same(got->failure, "PluginError") && wardlet_same(got->message, tests[i].want), "got %s, %s, want %s", got->answer,
			got->message, tests[i].want);
	}
}

static bool reads(void) {
	wardlet_read(name);
	return true;
}
static bool fetches(void) {
	wardlet_fetch(lazy_name);
	return wardlet_refuse(T("a consequence that says less"));
}
static bool whole(void) {
	wardlet_text json;
	return !wardlet_document(WARDLET_OBJECT, &json);
}
static bool no_root(void) {
	wardlet_declare("objekt.spec");
	return true;
}
static bool too_many(void) {
	for (int i = 0; i < WARDLET_MAX_FIELDS; i++) {
		wardlet_declare("object.spec.nodeName");
	}
	return true;
}

static void setup_fails_for_what_can_only_be_done_in_calls(void) {
	static const struct {
		bool (*setup)(void);
		const char *want;
	} tests[] = {
		{reads, "field object.metadata.name is read where no pod is judged: read fields in the policy, not in setup"},
		{fetches, "field object.metadata.annotations['long'] is read where no pod is judged: read fields in the policy, not in setup"},
		{whole, "a document is read where no pod is judged: read it in the policy, not in setup"},
		{no_root, "the agent refuses the field objekt.spec"},
		{too_many, "field object.spec.nodeName is one too many: a plugin may have 64"},
	};
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		setup_too = tests[i].setup;
		const wardlet_result *got = wardlet_test_load(NULL);
		WARDLET_CHECK(wardlet_same(got->failure, "PluginError") && wardlet_same(got->message, tests[i].want), "got %s, %s, want %s", got->answer,
			got->message, tests[i].want);
	}
	setup_too = NULL;
}

int main(void) {
	WARDLET_RUN(fields_have_the_values_of_the_pod);
	WARDLET_RUN(lists_have_all_elements);
	WARDLET_RUN(maps_have_all_entries);
	WARDLET_RUN(zips_go_through_two_lists_side_by_side);
	WARDLET_RUN(missing_fields_read_as_empty);
	WARDLET_RUN(lazy_fields_are_fetched);
	WARDLET_RUN(documents_come_as_json);
	WARDLET_RUN(kinds_say_what_a_field_is);
	WARDLET_RUN(misuse_fails_the_call_whatever_it_answers);
	WARDLET_RUN(setup_fails_for_what_can_only_be_done_in_calls);
	return wardlet_test_end();
}
