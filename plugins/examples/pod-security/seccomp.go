package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/str"
)

var (
	podSeccomp = sdk.Object("spec.securityContext.seccompProfile.type")
	seccomp    = sdk.Object("spec.@containers[*].securityContext.seccompProfile.type")
)

// allowedSeccomp requires that every profile that is set confines the container.
func allowedSeccomp(r *report) { seccompProfiles(r, false) }

// requiredSeccomp also requires that each container has a profile of its own or of the pod.
func requiredSeccomp(r *report) {
	if !r.ofWindows() {
		seccompProfiles(r, true)
	}
}

func seccompProfiles(r *report, required bool) {
	ofPod := podSeccomp.Exists()
	if ofPod && !confines(podSeccomp.String()) {
		ofPod = false
		if r.pod() {
			r.set(podSeccomp.String())
		}
	}
	i := 0
	for v := range seccomp.Elements() {
		switch {
		case !v.Exists():
			if required && !ofPod && r.container(i) {
				r.add(" does not set it, nor does the pod set an allowed one")
			}
		case !confines(v.String()):
			if r.container(i) {
				r.set(v.String())
			}
		}
		i++
	}
}

// confines reports whether a type of seccomp or AppArmor profile confines a container.
func confines(profile string) bool { return profile == "RuntimeDefault" || profile == "Localhost" }

// The annotations that were used instead of the fields before 1.19.
const (
	podSeccompKey       = "seccomp.security.alpha.kubernetes.io/pod"
	containerSeccompKey = "container.seccomp.security.alpha.kubernetes.io/"
)

func seccompAnnotations(r *report) {
	for key, value := range annotations.Map() {
		if value == "runtime/default" || value == "docker/default" || str.HasPrefix(value, localProfile) {
			continue
		}
		if str.Equal(key, podSeccompKey) || str.HasPrefix(key, containerSeccompKey) && isContainer(key[len(containerSeccompKey):]) {
			r.annotation(key, value)
		}
	}
}

func isContainer(name string) bool {
	for container := range containers.AllStrings() {
		if str.Equal(container, name) {
			return true
		}
	}
	return false
}
