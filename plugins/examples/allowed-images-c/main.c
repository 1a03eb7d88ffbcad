// allowed-images-c is a policy plugin: a pod may only run images from registries and repositories that its policy document
// lists. It is the example allowed-images, written in C. README.md tells what the settings mean.
//
// Comes in: the settings, once, and of each pod the names and images of its containers and image volumes. Goes out: allow
// or deny, with an explanation. It runs on the one goroutine of the agent's call.

#include "policy.h"

// What of a pod names an image: all containers, and volumes made of images.
static wardlet_field container_names, container_images, volume_names, volume_images;

static bool setup(void) {
	container_names = wardlet_declare("object.spec.@containers[*].name");
	container_images = wardlet_declare("object.spec.@containers[*].image");
	volume_names = wardlet_declare("object.spec.volumes[*].name");
	volume_images = wardlet_declare("object.spec.volumes[*].image.reference");

	wardlet_value allow;
	bool require_digest;
	wardlet_strings_setting("allow", &allow);
	wardlet_bool_setting("require_digest", &require_digest);
	return policy_init(allow, require_digest);
}

static wardlet_verdict judge(void) {
	return policy_judge(wardlet_zip_of(wardlet_read(container_names), wardlet_read(container_images)),
		wardlet_zip_of(wardlet_read(volume_names), wardlet_read(volume_images)));
}

WARDLET_PLUGIN(setup);
WARDLET_ADMIT(judge);
