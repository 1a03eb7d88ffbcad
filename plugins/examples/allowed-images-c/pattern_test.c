#include "pattern.h"

#include "wardlet_test.h"

#define SHA256 "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "sha256:1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void patterns_let_images_pass(void) {
	static const struct {
		const char *pattern, *yes[8], *no[10];
	} tests[] = {
		{"registry.example/*", {"registry.example/app", "registry.example/team/app:1", "registry.example/app@" SHA256},
			{"registry.example.evil/app", "evil.registry.example/app", "registry.example:5000/app", "registry.examples/app", "xregistry.example/app",
				"docker.io/registry.example/app", "evil.example/registry.example/app", "registry", "app"}},
		{"docker.io/library/nginx", {"nginx", "nginx:1.27", "library/nginx", "docker.io/nginx", "index.docker.io/library/nginx", "nginx@" SHA256},
			{"nginx2", "nginx/nginx", "library/nginx/x", "quay.io/library/nginx", "xnginx", "localhost/nginx", "docker.io:443/library/nginx"}},
		{"docker.io/nginx", {"nginx", "docker.io/library/nginx:1"}, {"nginx/nginx", "team/nginx"}},
		{"index.docker.io/*", {"nginx", "team/app"}, {"index.docker.example/nginx"}},
		{"REGISTRY.example/app", {"registry.example/app"}, {"registry.example/apps"}},
		{"registry.example:5000/*", {"registry.example:5000/app"}, {"registry.example/app", "registry.example:50000/app"}},
		{"registry.example/team-*/app", {"registry.example/team-a/app", "registry.example/team-a/b/app"}, {"registry.example/team/app"}},
		{"*.registry.example/*", {"a.registry.example/x", "a.b.registry.example/x"}, {"registry.example/x", "evilregistry.example/x"}},
		{"*/app", {"a.example/app", "localhost:1/app"}, {"app", "a.example/b/app"}},
		{"*/*", {"nginx", "a.example/b/c@" SHA256}, {NULL}},
		{"localhost/*", {"localhost/app"}, {"localhost:5000/app", "localhost:5000", "localhost"}},
		{"registry.example/app:1.*", {"registry.example/app:1.2"},
			{"registry.example/app:2", "registry.example/app", "registry.example/app:1.2@" SHA256, "registry.example/app@" SHA256}},
		{"registry.example/app:*", {"registry.example/app:1.2", "registry.example/app"}, {"registry.example/app@" SHA256}},
		{"registry.example/app:latest", {"registry.example/app"}, {"registry.example/app:1"}},
		{"registry.example/app@" SHA256, {"registry.example/app@" SHA256, "registry.example/app:x@" SHA256},
			{"registry.example/app", "registry.example/app@" OTHER}},
	};
	for (size_t n = 0; n < sizeof tests / sizeof *tests; n++) {
		pattern p;
		const char *fault = parse_pattern(wardlet_c(tests[n].pattern), &p);
		if (fault != NULL) {
			WARDLET_CHECK(false, "%s: %s", tests[n].pattern, fault);
			continue;
		}
		for (size_t k = 0; k < 18; k++) {
			const char *reference = k < 8 ? tests[n].yes[k] : tests[n].no[k - 8];
			image i;
			if (reference == NULL) {
				continue;
			}
			fault = parse_image(wardlet_c(reference), &i);
			WARDLET_CHECK(fault == NULL, "%s: %s", reference, fault);
			WARDLET_CHECK(fault != NULL || pattern_matches(&p, &i) == (k < 8), "pattern %s, image %s: %d", tests[n].pattern, reference, k >= 8);
		}
	}
}

static void patterns_that_mean_too_much_or_nothing_are_refused(void) {
	static const char *const tests[][2] = {
		{"", "name the registry"},
		{"*", "name the registry"},
		{"nginx", "name the registry"},
		{"library/nginx", "name the registry"},
		{"registry.example", "name the registry"},
		{"registry.example*", "name the registry"},
		{"registry.example*/app", "the registry must be a host"},
		{"registry.*/app", "the registry must be a host"},
		{"*registry.example/app", "the registry must be a host"},
		{"*.*.example/app", "the registry must be a host"},
		{"*./app", "the registry must be a host"},
		{"*:5000/app", "the registry must be a host"},
		{"https://registry.example/app", "the registry must be a host"},
		{"registry.example/", "no image can match this path"},
		{"registry.example//app", "no image can match this path"},
		{"registry.example/App", "no image can match this path"},
		{"registry.example/a..b", "no image can match this path"},
		{"registry.example/app ", "no image can match this path"},
		{"registry.example/[a-z]*", "no image can match this path"},
		{"registry.example/app:", "no tag can match"},
		{"registry.example/app:a b", "no tag can match"},
		{"registry.example/app@sha256:*", "a whole digest"},
		{"registry.example/app@", "a whole digest"},
		{"registry.example/app:1@" SHA256, "beside a digest a tag means nothing"},
	};
	for (size_t n = 0; n < sizeof tests / sizeof *tests; n++) {
		pattern p;
		const char *fault = parse_pattern(wardlet_c(tests[n][0]), &p);
		WARDLET_CHECK(fault != NULL && wardlet_has(fault, tests[n][1]), "%s: got %s, want %s", tests[n][0], fault != NULL ? fault : "no error", tests[n][1]);
	}
}

// What passes a pattern without stars in its registry comes from that registry.
static void a_pattern_without_stars_in_its_registry_lets_no_other_pass(void) {
	static const char *const pieces[] = {"nginx", "r.example", "localhost", ":", "/", "/*", "@", ".", "-", "1", "[::1]", "docker.io", "library", "*", "evil"};
	uint64_t state = 5;
	int passed = 0;
	for (int round = 0; round < 300000; round++) {
		char text[2][100] = {"", ""};
		for (int which = 0; which < 2; which++) {
			for (uint32_t n = 1 + wardlet_random(&state) % 4; n > 0; n--) {
				strcat(text[which], pieces[wardlet_random(&state) % (sizeof pieces / sizeof *pieces)]);
			}
		}
		pattern p;
		image i;
		if (parse_pattern(wardlet_c(text[0]), &p) != NULL || parse_image(wardlet_c(text[1]), &i) != NULL || !pattern_matches(&p, &i)) {
			continue;
		}
		passed++;
		WARDLET_CHECK(text[0][0] == '*' || wardlet_equal(p.registry, i.registry), "pattern %s lets %s pass", text[0], text[1]);
	}
	WARDLET_CHECK(passed > 100, "only %d passed", passed);
}

int main(void) {
	WARDLET_RUN(patterns_let_images_pass);
	WARDLET_RUN(patterns_that_mean_too_much_or_nothing_are_refused);
	WARDLET_RUN(a_pattern_without_stars_in_its_registry_lets_no_other_pass);
	return wardlet_test_end();
}
