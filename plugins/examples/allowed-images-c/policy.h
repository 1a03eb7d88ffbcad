// What the policy does once it has its settings.

#ifndef POLICY_H
#define POLICY_H

#include "wardlet.h"

// policy_init reads the patterns. They are a list of strings, or missing.
bool policy_init(wardlet_value allow, bool require_digest);

// policy_judge looks at the images of containers and volumes, each list beside the list of names.
wardlet_verdict policy_judge(wardlet_zip containers, wardlet_zip volumes);

#endif
