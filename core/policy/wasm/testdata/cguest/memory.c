// A plugin that tries out what only WebAssembly has: the functions that the compiler calls, and memory that grows.

#include "wardlet.h"

static wardlet_text mode;
static wardlet_field images, labels;

static bool setup(void) {
	images = wardlet_declare("object.spec.containers[*].image");
	labels = wardlet_declare("object.metadata.labels");
	return wardlet_string_setting("mode", &mode) || wardlet_refuse(WARDLET_TEXT("no mode"));
}

static unsigned char from[100], to[100];

static const char *functions(void) {
	for (int n = 0; n < 40; n++) {
		for (int i = 0; i < 100; i++) {
			from[i] = (unsigned char)i;
			to[i] = 200;
		}
		memcpy(to + 3, from + 1, (size_t)n);
		for (int i = 0; i < 100; i++) {
			if (to[i] != (i >= 3 && i < 3 + n ? i - 2 : 200)) {
				return "memcpy";
			}
		}
		memmove(from + 5, from + 2, (size_t)n);
		for (int i = 5; i < 5 + n; i++) {
			if (from[i] != i - 3) {
				return "memmove up";
			}
		}
		memmove(from + 1, from + 8, (size_t)n);
		for (int i = 1; i < 1 + n && i < n - 3; i++) {
			if (from[i] != i + 4) {
				return "memmove down";
			}
		}
		memset(to, 258, (size_t)n);
		for (int i = 0; i < n; i++) {
			if (to[i] != 2) {
				return "memset";
			}
		}
		if (strlen("") != 0 || strlen((char *)memset(memset(to, 0, 100), 'x', (size_t)n)) != (size_t)n) {
			return "strlen";
		}
		to[n] = 255;
		if (memcmp(to, to, 100) != 0 || memcmp("ab", "ac", 2) >= 0 || memcmp("\xff", "a", 1) <= 0 || memcmp("ab", "ac", 1) != 0) {
			return "memcmp";
		}
	}
	return NULL;
}

__attribute__((noinline)) static int dig(int depth) {
	volatile char frame[1000];
	frame[depth] = 1;
	int below = depth == 0 ? 0 : dig(depth - 1);
	return below * 3 + frame[below & 127];
}

static wardlet_verdict judge(void) {
	wardlet_text value;
	if (wardlet_is(mode, "shallow") || wardlet_is(mode, "deep")) {
		return dig(wardlet_is(mode, "deep") ? 20 : 10) == 999 ? wardlet_allow() : wardlet_abstain();
	}
	if (wardlet_is(mode, "functions")) {
		const char *wrong = functions();
		return wrong != NULL ? wardlet_deny("Wrong", wardlet_c(wrong)) : wardlet_allow();
	}
	if (wardlet_is(mode, "misuse")) {
		wardlet_int(wardlet_read(images));
	}
	if (wardlet_is(mode, "lookup") && wardlet_lookup(wardlet_read(labels), WARDLET_TEXT("app"), &value)) {
		wardlet_retry_after(90000);
		return wardlet_hold("Held", value);
	}
	if (wardlet_is(mode, "grow")) {
		for (int i = 0; i < 10; i++) {
			char *piece = wardlet_alloc(50000);
			for (int k = 0; k < 50000; k++) {
				if (piece[k] != 0) {
					return wardlet_deny("Dirty", WARDLET_TEXT("memory is not of zeros"));
				}
			}
			memset(piece, 1, 50000);
		}
	}
	if (wardlet_is(mode, "huge")) {
		wardlet_alloc(4000000000);
	}
	return wardlet_is(mode, "unsaid") ? (wardlet_verdict){0} : wardlet_allow();
}

WARDLET_PLUGIN(setup);
WARDLET_ADMIT(judge);
