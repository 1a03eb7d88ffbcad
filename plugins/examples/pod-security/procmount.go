package main

import "github.com/wardlet/wardlet/plugins/sdk"

var procMounts = sdk.Object("spec.@containers[*].securityContext.procMount")

func procMount(r *report) {
	if !r.ownUsers() {
		procMountOfAny(r)
	}
}

func procMountOfAny(r *report) {
	i := 0
	for v := range procMounts.Elements() {
		if v.Exists() && v.String() != "Default" && r.container(i) {
			r.set(v.String())
		}
		i++
	}
}
