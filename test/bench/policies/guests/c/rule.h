// What the C guests of the bench have in common: the rule that every side of it follows, as guests/rule/doc.go says.
//
// Comes in: texts and flags of one pod. Goes out: what is wrong with it.

#ifndef RULE_H
#define RULE_H

#include "wardlet.h"

// The labels that a pod must bear.
#define RULE_NAME "app.kubernetes.io/name"
#define RULE_TEAM "team"

// What begins the name of every image that is allowed.
#define RULE_REGISTRY "registry.example/"

// rule_image reports whether an image comes from the registry, and has a digest or a tag other than latest. The registry has
// no port, so a colon begins a tag.
static inline bool rule_image(wardlet_text image) {
	return wardlet_starts(image, WARDLET_TEXT(RULE_REGISTRY)) &&
		(wardlet_find_char(image, '@') != WARDLET_NONE ||
			(wardlet_find_char(image, ':') != WARDLET_NONE && !wardlet_ends(image, WARDLET_TEXT(":latest"))));
}

// The variant is there to be overwritten in the module: that gives plugins which do the same and are not the same.
static inline wardlet_verdict rule_unlabelled(void) {
	return wardlet_deny("LabelMissing", WARDLET_TEXT("the labels " RULE_NAME " and " RULE_TEAM " must be set (variant 0000)"));
}

static inline wardlet_verdict rule_foreign(wardlet_text image) {
	return wardlet_deny("ImageNotAllowed",
		WARDLET_CONCAT(WARDLET_TEXT("image "), image, WARDLET_TEXT(" is not allowed: want " RULE_REGISTRY " with a digest or a tag")));
}

static inline wardlet_verdict rule_unconfined(void) {
	return wardlet_deny("NotConfined", WARDLET_TEXT("a container is privileged, or may become it, or may run as root"));
}

// rule_judge is the rule over the fields as the ABI gives them.
static inline wardlet_verdict rule_judge(wardlet_value name, wardlet_value team, wardlet_value images, wardlet_value privileged,
	wardlet_value escalation, wardlet_value non_root) {
	if (!wardlet_exists(name) || !wardlet_exists(team)) {
		return rule_unlabelled();
	}
	wardlet_iterator all = wardlet_list(images);
	for (wardlet_value image; wardlet_next(&all, &image);) {
		if (!rule_image(wardlet_string(image))) {
			return rule_foreign(wardlet_string(image));
		}
	}
	const wardlet_value forbidden[] = {privileged, escalation};
	for (size_t i = 0; i < 2; i++) {
		all = wardlet_list(forbidden[i]);
		for (wardlet_value is; wardlet_next(&all, &is);) {
			if (wardlet_bool(is)) {
				return rule_unconfined();
			}
		}
	}
	all = wardlet_list(non_root);
	for (wardlet_value is; wardlet_next(&all, &is);) {
		if (!wardlet_bool(is)) {
			return rule_unconfined();
		}
	}
	return wardlet_allow();
}

#endif
