// References to images as a container runtime understands them.

#ifndef IMAGE_H
#define IMAGE_H

#include "wardlet.h"

// An image has nothing left to default.
typedef struct {
	// registry has a port if one was written.
	wardlet_text registry, path;
	// digest is empty where there is none, tag where there is a digest: a tag beside a digest means nothing to a runtime.
	wardlet_text tag, digest;
} image;

// parse_image reads [registry/]path[:tag][@digest] as containerd does: "nginx" is docker.io/library/nginx:latest. It gives
// NULL, or what is wrong. What the grammar of references does not know is an error, and so is the ID of an image: it would
// run whatever has that ID, from wherever it came. So is a registry with capital letters: containerd takes DOCKER.IO for
// another registry than docker.io.
const char *parse_image(wardlet_text reference, image *i);

// image_text is the reference in full.
wardlet_text image_text(const image *i);

// cut_tag takes what follows the last colon of a name, unless that is part of a registry.
bool cut_tag(wardlet_text *name, wardlet_text *tag);

// looks_like_host does not take a single word in capitals for a host, as runtimes do: such an image is refused for its path.
bool looks_like_host(wardlet_text t);

// lower_case is a text with its capitals made small.
wardlet_text lower_case(wardlet_text t);

// canonical gives a repository of Docker's registry its one name.
void canonical(wardlet_text *registry, wardlet_text *path);

extern const char default_registry[];

#endif
