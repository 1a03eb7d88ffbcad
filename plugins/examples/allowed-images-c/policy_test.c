#include "wardlet_test.h"

// The settings are those of the template in policies/.
#define SETTINGS "{'allow': ['registry.example/*', 'docker.io/library/nginx']}"
#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define SHA256 "sha256:" HEX64

#define NAMES "'object.spec.@containers[*].name': "
#define IMAGES "'object.spec.@containers[*].image': "

// one asks about a pod with one container.
static const wardlet_result *one(const char *settings, const char *reference) {
	char fields[1000];
	snprintf(fields, sizeof fields, "{" NAMES "['a'], " IMAGES "[%s]}", wardlet_quote(reference));
	return wardlet_test_admit(.settings = settings, .fields = fields);
}

static void listed_images_are_allowed(void) {
	const wardlet_result *got = wardlet_test_admit(.settings = SETTINGS, .fields = "{" NAMES "['a', 'b'], " IMAGES "['registry.example/app:1', 'nginx']}");
	WARDLET_CHECK(wardlet_same(got->answer, "allow"), "got %s: %s", got->answer, got->message);
	WARDLET_CHECK(wardlet_same(got->explanation, "container \"a\": image \"registry.example/app:1\" is allowed by \"registry.example/*\"\n"
		"container \"b\": image \"nginx\" is allowed by \"docker.io/library/nginx\""), "explanation %s", got->explanation);
}

static void other_images_are_denied_with_container_and_image(void) {
	const wardlet_result *got = wardlet_test_admit(.settings = SETTINGS, .fields = "{" NAMES "['a', 'b'], " IMAGES "['nginx', 'busybox']}");
	WARDLET_CHECK(wardlet_same(got->answer, "deny") && wardlet_same(got->code, "ImageNotAllowed") && wardlet_same(got->message,
		"container \"b\": image \"busybox\" (\"docker.io/library/busybox:latest\") is not allowed (allowed: registry.example/*, docker.io/library/nginx)"),
		"got %s, %s, %s", got->answer, got->code, got->message);
	WARDLET_CHECK(wardlet_has(got->explanation, "\"nginx\" is allowed by") && wardlet_has(got->explanation, "is not allowed"), "explanation %s",
		got->explanation);
}

static void every_image_of_a_pod_is_looked_at(void) {
	static const struct {
		const char *what, *fields, *want;
	} tests[] = {
		{"containers", "{" NAMES "['a', 'b'], " IMAGES "['nginx', 'evil.example/x']}", "deny"},
		{"image volumes", "{" NAMES "['a'], " IMAGES "['nginx'], 'object.spec.volumes[*].name': ['v', 'w'], "
			"'object.spec.volumes[*].image.reference': [null, 'evil.example/x']}", "deny"},
		{"containers without image", "{" NAMES "['a'], " IMAGES "[null]}", "deny"},
		// Such a volume mounts nothing: the API refuses it.
		{"image volumes without image", "{" NAMES "['a'], " IMAGES "['nginx'], 'object.spec.volumes[*].name': ['w'], "
			"'object.spec.volumes[*].image.reference': [null]}", "allow"},
		{"nothing", "{}", "allow"},
	};
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		const wardlet_result *got = wardlet_test_admit(.settings = SETTINGS, .fields = tests[i].fields);
		WARDLET_CHECK(wardlet_same(got->answer, tests[i].want), "%s: got %s, %s", tests[i].what, got->answer, got->message);
		WARDLET_CHECK(wardlet_same(got->answer, "allow") || wardlet_same(got->code, "ImageNotAllowed"), "%s: code %s", tests[i].what, got->code);
	}
	WARDLET_CHECK(wardlet_has(one(SETTINGS, "")->message, "container \"a\": image \"\" is missing ("), "message %s", one(SETTINGS, "")->message);
}

static void there_is_no_way_round(void) {
	static const char *const tests[] = {
		"registry.example.evil/app", "registry.example:5000/app", "evil.example/registry.example/app", "docker.io/registry.example/app",
		"registry.example@evil.example/app", "evil.example/registry.example:1", "registry.example%2f@evil.example/app",
		"registry.example/../evil.example/app", "registry.example\t/app", "registry.example/app\nevil.example/app", " registry.example/app",
		"REGISTRY.EXAMPLE.EVIL/app", "Registry.example/APP", "NGINX", "nginx/nginx", "nginx.example/library/nginx", "docker.io.evil/library/nginx",
		"library/nginx/evil", "localhost/nginx", "localhost:5000", "nginx:1@md5:00000000000000000000000000000000", "nginx@sha256:0",
		SHA256, "sha256:0123", HEX64, "registry.example", "registry.example:5000", "http://registry.example/app",
	};
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		const wardlet_result *got = one(SETTINGS, tests[i]);
		WARDLET_CHECK(wardlet_same(got->answer, "deny"), "%s: got %s, %s", tests[i], got->answer, got->message);
	}
}

static void digests_can_be_required(void) {
	static const char *const settings = "{'allow': ['registry.example/*', 'docker.io/library/nginx'], 'require_digest': true}";
	static const char *const tests[][2] = {
		{"nginx@" SHA256, "allow"},
		{"nginx:1@" SHA256, "allow"},
		{"registry.example/a/b:1@" SHA256, "allow"},
		{"nginx", "deny"},
		{"registry.example/a/b:1", "deny"},
		{"busybox@" SHA256, "deny"},
	};
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		const wardlet_result *got = one(settings, tests[i][0]);
		WARDLET_CHECK(wardlet_same(got->answer, tests[i][1]), "%s: got %s, %s", tests[i][0], got->answer, got->message);
	}
	WARDLET_CHECK(wardlet_has(one(settings, "nginx")->message, "settings.require_digest"), "message %s", one(settings, "nginx")->message);
}

static void bad_settings_are_refused(void) {
	static const char *const tests[][3] = {
		{"no settings", NULL, "settings.allow must list at least one pattern"},
		{"an empty list", "{'allow': []}", "settings.allow must list at least one pattern"},
		{"one string, not a list", "{'allow': 'registry.example/*'}", "setting allow must be a list"},
		{"a list of other things", "{'allow': [1]}", "setting allow must be a list of strings"},
		{"a bad pattern", "{'allow': ['*/*', 'nginx']}", "settings.allow[1]: \"nginx\": name the registry"},
		{"require_digest as text", "{'allow': ['*/*'], 'require_digest': 'yes'}", "setting require_digest must be a bool"},
		{"an empty pattern", "{'allow': ['']}", "settings.allow[0]"},
		{"a pattern with a string", "{'allow': ['a.b/\"c']}", "no image can match this path"},
	};
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		const wardlet_result *got = wardlet_test_load(tests[i][1]);
		WARDLET_CHECK(wardlet_same(got->failure, "PluginError") && wardlet_has(got->message, tests[i][2]), "%s: got %s, %s, want %s", tests[i][0],
			got->answer, got->message, tests[i][2]);
	}
}

// repeated is a list of JSON of n equal strings.
static char *repeated(const char *piece, int pieces, int n) {
	size_t len = strlen(piece) * (size_t)pieces;
	char *list = malloc((len + 4) * (size_t)n + 3), *to = list;
	*to++ = '[';
	for (int i = 0; i < n; i++) {
		to += sprintf(to, "%s'", i > 0 ? "," : "");
		for (int k = 0; k < pieces; k++) {
			to += sprintf(to, "%s", piece);
		}
		*to++ = '\'';
	}
	strcpy(to, "]");
	return list;
}

static void what_is_said_has_bounds(void) {
	static const struct {
		const char *piece;
		int pieces, containers;
	} tests[] = {{"evil.example/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 5, 200}, {"é", 20000, 1}};
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		char *names = repeated("n", 40, tests[i].containers), *images = repeated(tests[i].piece, tests[i].pieces, tests[i].containers);
		char *fields = malloc(strlen(names) + strlen(images) + 200);
		sprintf(fields, "{" NAMES "%s, " IMAGES "%s}", names, images);
		const wardlet_result *got = wardlet_test_admit(.settings = SETTINGS, .fields = fields);
		WARDLET_CHECK(wardlet_same(got->answer, "deny") && strlen(got->message) < 4095 && strlen(got->explanation) <= 16 << 10,
			"%s: %s: %s, %zu bytes of message, %zu of explanation", tests[i].piece, got->answer, got->failure, strlen(got->message), strlen(got->explanation));
		int shown = 0;
		for (const char *at = got->message; (at = strstr(at, ": image \"")) != NULL; at++) {
			shown += strncmp(at + 9, tests[i].piece, 2) == 0;
		}
		WARDLET_CHECK(shown == (tests[i].containers == 1 ? 1 : 5), "%s: %d images in the message", tests[i].piece, shown);
		WARDLET_CHECK(tests[i].containers > 1 || wardlet_has(got->message, "éé…\" is refused: "), "not shortened: %s", got->message);
		WARDLET_CHECK(tests[i].containers == 1 || (wardlet_has(got->message, "; and 195 more (allowed: registry.example/*") &&
			wardlet_has(got->explanation, "\nand 180 more")), "message %s", got->message);
		free(names);
		free(images);
		free(fields);
	}
}

static void messages_name_ten_patterns(void) {
	const wardlet_result *got = one("{'allow': ['a.b/a', 'a.b/b', 'a.b/c', 'a.b/d', 'a.b/e', 'a.b/f', 'a.b/g', 'a.b/h', 'a.b/i', 'a.b/j', 'a.b/k', 'a.b/l']}", "x");
	WARDLET_CHECK(wardlet_has(got->message, "(allowed: a.b/a, a.b/b, ") && wardlet_has(got->message, ", a.b/j, and 2 more)"), "message %s", got->message);
}

int main(void) {
	WARDLET_RUN(listed_images_are_allowed);
	WARDLET_RUN(other_images_are_denied_with_container_and_image);
	WARDLET_RUN(every_image_of_a_pod_is_looked_at);
	WARDLET_RUN(there_is_no_way_round);
	WARDLET_RUN(digests_can_be_required);
	WARDLET_RUN(bad_settings_are_refused);
	WARDLET_RUN(what_is_said_has_bounds);
	WARDLET_RUN(messages_name_ten_patterns);
	return wardlet_test_end();
}
