// The rule over fields that the agent writes before each call.

#include "rule.h"

static wardlet_field name, team, images, privileged, escalation, non_root;

static bool setup(void) {
	name = wardlet_declare("object.metadata.labels['" RULE_NAME "']");
	team = wardlet_declare("object.metadata.labels['" RULE_TEAM "']");
	images = wardlet_declare("object.spec.@containers[*].image");
	privileged = wardlet_declare("object.spec.@containers[*].securityContext.privileged");
	escalation = wardlet_declare("object.spec.@containers[*].securityContext.allowPrivilegeEscalation");
	non_root = wardlet_declare("object.spec.@containers[*].securityContext.runAsNonRoot");
	return true;
}

static wardlet_verdict judge(void) {
	return rule_judge(wardlet_read(name), wardlet_read(team), wardlet_read(images), wardlet_read(privileged),
		wardlet_read(escalation), wardlet_read(non_root));
}

WARDLET_PLUGIN(setup);
WARDLET_ADMIT(judge);
