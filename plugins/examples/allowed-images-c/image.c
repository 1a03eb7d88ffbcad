#include "image.h"

#include "grammar.h"

#define MAX_PATH 255

const char default_registry[] = "docker.io";

bool cut_tag(wardlet_text *name, wardlet_text *tag) {
	size_t colon = wardlet_find_last(*name, ':');
	*tag = WARDLET_TEXT("");
	if (colon == WARDLET_NONE || wardlet_find_char(wardlet_slice(*name, colon, name->len), '/') != WARDLET_NONE) {
		return false;
	}
	*tag = wardlet_slice(*name, colon + 1, name->len);
	*name = wardlet_slice(*name, 0, colon);
	return true;
}

wardlet_text lower_case(wardlet_text t) {
	size_t i = 0;
	while (i < t.len && (t.at[i] < 'A' || t.at[i] > 'Z')) {
		i++;
	}
	if (i == t.len) {
		return t;
	}
	char *small = wardlet_alloc(t.len);
	for (i = 0; i < t.len; i++) {
		small[i] = (char)(t.at[i] >= 'A' && t.at[i] <= 'Z' ? t.at[i] - 'A' + 'a' : t.at[i]);
	}
	return (wardlet_text){small, t.len};
}

bool looks_like_host(wardlet_text t) {
	return wardlet_find_char(t, '.') != WARDLET_NONE || wardlet_find_char(t, ':') != WARDLET_NONE ||
		(t.len == sizeof "localhost" - 1 && wardlet_is(lower_case(t), "localhost"));
}

void canonical(wardlet_text *registry, wardlet_text *path) {
	if (wardlet_is(*registry, "index.docker.io")) {
		*registry = wardlet_c(default_registry);
	}
	if (wardlet_is(*registry, default_registry) && wardlet_find_char(*path, '/') == WARDLET_NONE) {
		*path = WARDLET_CONCAT(WARDLET_TEXT("library/"), *path);
	}
}

// is_id reports whether a runtime might take a name for the ID of an image: 64 hexadecimal digits, or the algorithm of a
// digest whose digits are then the tag.
static bool is_id(wardlet_text name) {
	return wardlet_is(name, "sha256") || wardlet_is(name, "sha384") || wardlet_is(name, "sha512") ||
		(name.len == 64 && only(name, DIGIT | HEX));
}

const char *parse_image(wardlet_text reference, image *i) {
	wardlet_text name, tag, digest;
	bool has_digest = wardlet_cut(reference, '@', &name, &digest);
	if (has_digest && !is_digest(digest)) {
		return "after the @ must stand a digest, such as sha256 with 64 digits";
	}
	bool has_tag = cut_tag(&name, &tag);
	if (has_tag && !is_tag(tag)) {
		return "the tag is malformed";
	}
	if (is_id(name)) {
		return "this is the ID of an image, which names no registry";
	}
	wardlet_text registry = wardlet_c(default_registry), path = name, first, rest;
	if (wardlet_cut(name, '/', &first, &rest) && looks_like_host(first)) {
		registry = first;
		path = rest;
	}
	if (!is_registry(registry)) {
		return "the registry is malformed";
	}
	if (!wardlet_equal(lower_case(registry), registry)) {
		return "the registry has capital letters: write it in lower case, for a runtime takes it for another registry as it is";
	}
	*i = (image){registry, path, tag, digest};
	canonical(&i->registry, &i->path);
	if (i->path.len > MAX_PATH || !is_path(path, false)) {
		return "the path is malformed: it has lower case letters, digits and single . _ - between them";
	}
	if (has_digest) {
		i->tag = WARDLET_TEXT("");
	} else if (!has_tag) {
		i->tag = WARDLET_TEXT("latest");
	}
	return NULL;
}

wardlet_text image_text(const image *i) {
	bool digest = i->digest.len > 0;
	return WARDLET_CONCAT(i->registry, WARDLET_TEXT("/"), i->path, digest ? WARDLET_TEXT("@") : WARDLET_TEXT(":"),
		digest ? i->digest : i->tag);
}
