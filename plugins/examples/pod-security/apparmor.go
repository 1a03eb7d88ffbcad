package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/str"
)

var (
	podAppArmor = sdk.Object("spec.securityContext.appArmorProfile.type")
	appArmors   = sdk.Object("spec.@containers[*].securityContext.appArmorProfile.type")
)

// appArmorKey is the prefix of the annotations that were used instead of the fields before
// 1.30.
const appArmorKey = "container.apparmor.security.beta.kubernetes.io/"

func appArmor(r *report) {
	if podAppArmor.Exists() && !confines(podAppArmor.String()) && r.pod() {
		r.set(podAppArmor.String())
	}
	i := 0
	for v := range appArmors.Elements() {
		if v.Exists() && !confines(v.String()) && r.container(i) {
			r.set(v.String())
		}
		i++
	}
	for key, value := range annotations.Map() {
		if str.HasPrefix(key, appArmorKey) && value != "" && value != "runtime/default" && !str.HasPrefix(value, localProfile) {
			r.annotation(key, value)
		}
	}
}
