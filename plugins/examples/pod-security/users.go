package main

import "github.com/wardlet/wardlet/plugins/sdk"

var (
	podNonRoot = sdk.Object("spec.securityContext.runAsNonRoot")
	nonRootSet = sdk.Object("spec.@containers[*].securityContext.runAsNonRoot")
	podUser    = sdk.Object("spec.securityContext.runAsUser")
	users      = sdk.Object("spec.@containers[*].securityContext.runAsUser")
)

// nonRoot requires runAsNonRoot to be true for the pod, or for all containers if the pod
// does not set it. A value of false is a violation everywhere, even if another value
// overrides it.
func nonRoot(r *report) {
	if r.ownUsers() {
		return
	}
	ofPod := podNonRoot.Bool()
	if podNonRoot.Exists() && !ofPod && r.pod() {
		r.add(" sets it to false")
	}
	i := 0
	for v := range nonRootSet.Elements() {
		switch {
		case !v.Exists() && !ofPod:
			if r.container(i) {
				r.add(" does not set it, nor does the pod set it to true")
			}
		case v.Exists() && !v.Bool():
			if r.container(i) {
				r.add(" sets it to false")
			}
		}
		i++
	}
}

func rootUsers(r *report) {
	if r.ownUsers() {
		return
	}
	if podUser.Exists() && podUser.Int() == 0 {
		r.pod()
	}
	i := 0
	for v := range users.Elements() {
		if v.Exists() && v.Int() == 0 {
			r.container(i)
		}
		i++
	}
}
