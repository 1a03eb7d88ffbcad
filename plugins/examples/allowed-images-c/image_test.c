#include "image.h"

#include "wardlet_test.h"

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define SHA256 "sha256:" HEX64
#define TEN(x) x x x x x x x x x x

static void references_are_read_as_runtimes_do(void) {
	static const char *const tests[][2] = {
		{"nginx", "docker.io/library/nginx:latest"},
		{"nginx:1.27", "docker.io/library/nginx:1.27"},
		{"docker.io/nginx", "docker.io/library/nginx:latest"},
		{"index.docker.io/nginx", "docker.io/library/nginx:latest"},
		{"library/nginx", "docker.io/library/nginx:latest"},
		{"team/app", "docker.io/team/app:latest"},
		{"docker.io/team/app:1", "docker.io/team/app:1"},
		{"localhost/app", "localhost/app:latest"},
		{"localhost:5000/app", "localhost:5000/app:latest"},
		{"localhost:5000", "docker.io/library/localhost:5000"},
		{"registry.example/app", "registry.example/app:latest"},
		{"registry.example:443/a/b:1", "registry.example:443/a/b:1"},
		{"[::1]:5000/app", "[::1]:5000/app:latest"},
		{"[fe80::1]/app:1", "[fe80::1]/app:1"},
		{"a.b/c__d-e---f.g/h_i", "a.b/c__d-e---f.g/h_i:latest"},
		{"nginx@" SHA256, "docker.io/library/nginx@" SHA256},
		{"r.example/a:1@" SHA256, "r.example/a@" SHA256},
		{"deadbeef", "docker.io/library/deadbeef:latest"},
		{"sha256/app", "docker.io/sha256/app:latest"},
		{"r.example/sha256:1", "r.example/sha256:1"},
	};
	for (size_t n = 0; n < sizeof tests / sizeof *tests; n++) {
		image i;
		const char *fault = parse_image(wardlet_c(tests[n][0]), &i);
		wardlet_text got = fault != NULL ? wardlet_c(fault) : image_text(&i);
		WARDLET_CHECK(fault == NULL && wardlet_is(got, tests[n][1]), "%s: got %.*s, want %s", tests[n][0], (int)got.len, got.at, tests[n][1]);
	}
}

static void what_is_no_reference_is_an_error(void) {
	static const char *const tests[] = {
		"", " ", "nginx ", " nginx", "nginx\n", "ngi nx", "Nginx", "REGISTRY/app", "team/App", "registry.example/App", "nginx:", ":1", "nginx:1:2",
		"nginx:-1", "nginx:.1", "nginx:ü", "nginx:" TEN("1234567890123") "0", "nginx@", "nginx@sha256", "nginx@sha256:12",
		"nginx@SHA256:" HEX64, "nginx@md5:00000000000000000000000000000000",
		"nginx@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdeg", "nginx@" SHA256 "@" SHA256, "nginx@" SHA256 ":1",
		"@" SHA256, "registry.example//app", "registry.example/", "/app", "registry.example/../app", "registry.example/./app",
		"registry.example/app/", "registry.example/.app", "registry.example/app.", "registry.example/a..b", "registry.example/a___b",
		"registry.example/a._b", "registry.example./app", ".registry.example/app", "registry..example/app", "-registry.example/app",
		"registry-.example/app", "registry.example:/app", "registry.example:x/app", "registry.example:80:80/app", "registry_x.example/app",
		"user@registry.example/app", "user:pass@registry.example/app", "https://registry.example/app", "docker://nginx",
		"registry.example\\app", "registry.example%2fapp", "registry.example/app?x", "registry.example/app#x", "régistry.example/app",
		"[::1/app", "::1]/app", "[]/app", "[]:5000/app", "[/app", "]/app", "[::1]x/app", "[gg::]/app",
		"r.example/" TEN("abcdefghijabcdefghijabcdef"), TEN("aaaaaaaaaaaaaaaaaaaaaaaaa"),
		"DOCKER.IO/nginx", "Docker.Io/library/nginx", "INDEX.DOCKER.IO/nginx", "Registry.Example/app", "registry.example:5000/App", "LOCALHOST/app",
		"Localhost:5000/app", "[FE80::1]/app:1", HEX64, SHA256, "sha256:0123", "sha512:1", "sha256@" SHA256, "sha256",
	};
	for (size_t n = 0; n < sizeof tests / sizeof *tests; n++) {
		image i;
		WARDLET_CHECK(parse_image(wardlet_c(tests[n]), &i) != NULL, "%s was read", tests[n]);
	}
}

// Of what can be read, the full form is read as the same.
static void the_full_form_means_the_same(void) {
	static const char *const pieces[] = {"nginx", "r.example", "localhost", ":", "/", "@", SHA256, ".", "-", "_", "__", "A", "1", "[::1]", "5000", "docker.io",
		"index.docker.io", "library", "*", " ", "\xff"};
	uint64_t state = 3;
	int read = 0;
	for (int round = 0; round < 200000; round++) {
		char text[400] = "";
		for (uint32_t n = 1 + wardlet_random(&state) % 6; n > 0; n--) {
			strcat(text, pieces[wardlet_random(&state) % (sizeof pieces / sizeof *pieces)]);
		}
		image i, again;
		if (parse_image(wardlet_c(text), &i) != NULL) {
			continue;
		}
		read++;
		bool same = parse_image(image_text(&i), &again) == NULL && wardlet_equal(i.registry, again.registry) && wardlet_equal(i.path, again.path) &&
			wardlet_equal(i.tag, again.tag) && wardlet_equal(i.digest, again.digest);
		WARDLET_CHECK(same && (i.tag.len == 0) != (i.digest.len == 0) && i.registry.len > 0 && i.path.len > 0, "%s", text);
	}
	WARDLET_CHECK(read > 10000, "only %d could be read", read);
}

int main(void) {
	WARDLET_RUN(references_are_read_as_runtimes_do);
	WARDLET_RUN(what_is_no_reference_is_an_error);
	WARDLET_RUN(the_full_form_means_the_same);
	return wardlet_test_end();
}
