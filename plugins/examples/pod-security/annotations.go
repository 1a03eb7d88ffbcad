package main

import "github.com/wardlet/wardlet/plugins/sdk"

// annotations is lazy, because annotations may be larger than the area for declared fields.
var annotations = sdk.Object("metadata.annotations").Lazy()

// localProfile is the prefix of the value of an annotation that names a profile on the
// node.
const localProfile = "localhost/"

// annotation reports that an annotation violates the current check.
func (r *report) annotation(key, value string) {
	if r.offender() && r.name("annotation", key) {
		r.set(value)
	}
}
