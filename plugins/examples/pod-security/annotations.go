package main

import "github.com/wardlet/wardlet/plugins/sdk"

// annotations is read when it is looked at: it may be larger than what the agent
// can hand over before a call.
var annotations = sdk.Object("metadata.annotations").Lazy()

// localProfile begins the value of an annotation that names a profile of the
// node.
const localProfile = "localhost/"

// annotation reports one.
func (r *report) annotation(key, value string) {
	if r.offender() && r.name("annotation", key) {
		r.set(value)
	}
}
