#include "render.h"

#include "settings.h"

static wardlet_field field;
static wardlet_lazy_field lazy;

void declare(void) {
	if (wardlet_is(text("from"), "field")) {
		field = wardlet_declare(terminated(text("show")));
	} else if (wardlet_is(text("from"), "lazy")) {
		lazy = wardlet_declare_lazy(terminated(text("show")));
	}
}

static void render(wardlet_builder *out, wardlet_value v);

static void render_list(wardlet_builder *out, wardlet_value v) {
	wardlet_iterator all = wardlet_list(v);
	wardlet_add_c(out, "[");
	wardlet_value element;
	for (bool first = true; wardlet_next(&all, &element); first = false) {
		wardlet_add_c(out, first ? "" : ",");
		render(out, element);
	}
	wardlet_add_c(out, "]");
}

static void render_map(wardlet_builder *out, wardlet_value v) {
	wardlet_iterator all = wardlet_map(v);
	wardlet_add_c(out, "{");
	wardlet_text key, value;
	for (bool first = true; wardlet_next_entry(&all, &key, &value); first = false) {
		wardlet_add_c(out, first ? "" : ",");
		wardlet_add(out, key);
		wardlet_add_c(out, "=");
		wardlet_add(out, value);
	}
	wardlet_add_c(out, "}");
}

static void render(wardlet_builder *out, wardlet_value v) {
	switch (v.kind) {
	case WARDLET_MISSING:
		wardlet_add_c(out, "missing");
		break;
	case WARDLET_STRING:
		wardlet_add(out, wardlet_string(v));
		break;
	case WARDLET_BOOL:
		wardlet_add_c(out, wardlet_bool(v) ? "true" : "false");
		break;
	case WARDLET_INT:
		wardlet_add_int(out, wardlet_int(v));
		break;
	case WARDLET_LIST:
		render_list(out, v);
		break;
	case WARDLET_MAP:
		render_map(out, v);
		break;
	case WARDLET_JSON:
		wardlet_add(out, wardlet_json(v));
		break;
	}
}

// render_setting reads a setting as settings.kind says.
static void render_setting(wardlet_builder *out, const char *path) {
	wardlet_text kind = text("kind"), string;
	wardlet_value value = {.kind = WARDLET_MISSING, .path = path};
	bool yes;
	int64_t n;
	if (wardlet_is(kind, "string")) {
		wardlet_add(out, wardlet_string_setting(path, &string) ? string : WARDLET_TEXT("missing"));
	} else if (wardlet_is(kind, "bool")) {
		wardlet_add_c(out, !wardlet_bool_setting(path, &yes) ? "missing" : yes ? "true" : "false");
	} else if (wardlet_is(kind, "integer")) {
		if (wardlet_int_setting(path, &n)) {
			wardlet_add_int(out, n);
		} else {
			wardlet_add_c(out, "missing");
		}
	} else if (wardlet_is(kind, "strings")) {
		wardlet_strings_setting(path, &value);
		render(out, value);
	} else if (wardlet_is(kind, "map")) {
		wardlet_map_setting(path, &value);
		render(out, value);
	}
}

wardlet_text rendered(void) {
	wardlet_builder out = wardlet_build(4096);
	wardlet_text from = text("from");
	if (wardlet_is(from, "field")) {
		render(&out, wardlet_read(field));
	} else if (wardlet_is(from, "lazy")) {
		render(&out, wardlet_fetch(lazy));
	} else {
		render_setting(&out, terminated(text("show")));
	}
	return wardlet_built(&out);
}
