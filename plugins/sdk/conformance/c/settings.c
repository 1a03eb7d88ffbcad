#include "settings.h"

wardlet_text text(const char *name) {
	wardlet_text value;
	wardlet_string_setting(name, &value);
	return value;
}

int64_t number(const char *name) {
	int64_t value;
	wardlet_int_setting(name, &value);
	return value;
}

bool behaves(const char *word) { return wardlet_is(text("behaviour"), word); }

const char *terminated(wardlet_text t) {
	char *copy = wardlet_alloc(t.len + 1); // zeros
	for (size_t i = 0; i < t.len; i++) {
		copy[i] = t.at[i];
	}
	return copy;
}
