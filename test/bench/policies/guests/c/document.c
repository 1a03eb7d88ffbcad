// The rule over the whole pod as JSON.

#include "json.h"
#include "rule.h"

// What the walk found.
static struct {
	bool named, teamed, unconfined;
	bool foreign;
	wardlet_text image;
} found;

static bool setup(void) { return true; }

static void labels(json_cursor *c) {
	wardlet_text key;
	for (bool first = true; json_key(c, &first, &key); json_skip(c)) {
		found.named = found.named || wardlet_is(key, RULE_NAME);
		found.teamed = found.teamed || wardlet_is(key, RULE_TEAM);
	}
}

static void metadata(json_cursor *c) {
	wardlet_text key;
	for (bool first = true; json_key(c, &first, &key);) {
		if (wardlet_is(key, "labels")) {
			labels(c);
		} else {
			json_skip(c);
		}
	}
}

// confined reports whether a security context is as the rule wants it.
static bool confined(json_cursor *c) {
	bool may = false, non_root = false;
	wardlet_text key;
	for (bool first = true; json_key(c, &first, &key);) {
		if (wardlet_is(key, "privileged") || wardlet_is(key, "allowPrivilegeEscalation")) {
			may = json_true(c) || may;
		} else if (wardlet_is(key, "runAsNonRoot")) {
			non_root = json_true(c);
		} else {
			json_skip(c);
		}
	}
	return non_root && !may;
}

static void container(json_cursor *c) {
	bool is_confined = false;
	wardlet_text key, image = WARDLET_TEXT("");
	for (bool first = true; json_key(c, &first, &key);) {
		if (wardlet_is(key, "image")) {
			image = json_text(c);
		} else if (wardlet_is(key, "securityContext")) {
			is_confined = confined(c);
		} else {
			json_skip(c);
		}
	}
	found.unconfined = found.unconfined || !is_confined;
	if (!found.foreign && !rule_image(image)) {
		found.foreign = true;
		found.image = image;
	}
}

static void spec(json_cursor *c) {
	wardlet_text key;
	for (bool first = true; json_key(c, &first, &key);) {
		if (wardlet_is(key, "initContainers") || wardlet_is(key, "containers") || wardlet_is(key, "ephemeralContainers")) {
			for (bool none = true; json_element(c, &none);) {
				container(c);
			}
		} else {
			json_skip(c);
		}
	}
}

static wardlet_verdict judge(void) {
	wardlet_text json, key;
	if (!wardlet_document(WARDLET_OBJECT, &json)) {
		return wardlet_fail(WARDLET_TEXT("there is no pod"));
	}
	json_cursor c = {json.at, json.at + json.len, false};
	for (bool first = true; json_key(&c, &first, &key);) {
		if (wardlet_is(key, "metadata")) {
			metadata(&c);
		} else if (wardlet_is(key, "spec")) {
			spec(&c);
		} else {
			json_skip(&c);
		}
	}
	if (c.failed || c.at != c.end) {
		return wardlet_fail(WARDLET_TEXT("the pod cannot be read"));
	}
	if (!found.named || !found.teamed) {
		return rule_unlabelled();
	}
	if (found.foreign) {
		return rule_foreign(found.image);
	}
	return found.unconfined ? rule_unconfined() : wardlet_allow();
}

WARDLET_PLUGIN(setup);
WARDLET_ADMIT(judge);
