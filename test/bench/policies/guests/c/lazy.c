// The rule over fields that are fetched one by one.

#include "rule.h"

static wardlet_lazy_field name, team, images, privileged, escalation, non_root;

static bool setup(void) {
	name = wardlet_declare_lazy("object.metadata.labels['" RULE_NAME "']");
	team = wardlet_declare_lazy("object.metadata.labels['" RULE_TEAM "']");
	images = wardlet_declare_lazy("object.spec.@containers[*].image");
	privileged = wardlet_declare_lazy("object.spec.@containers[*].securityContext.privileged");
	escalation = wardlet_declare_lazy("object.spec.@containers[*].securityContext.allowPrivilegeEscalation");
	non_root = wardlet_declare_lazy("object.spec.@containers[*].securityContext.runAsNonRoot");
	return true;
}

static wardlet_verdict judge(void) {
	return rule_judge(wardlet_fetch(name), wardlet_fetch(team), wardlet_fetch(images), wardlet_fetch(privileged),
		wardlet_fetch(escalation), wardlet_fetch(non_root));
}

WARDLET_PLUGIN(setup);
WARDLET_ADMIT(judge);
