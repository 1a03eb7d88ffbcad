package main

import "github.com/wardlet/wardlet/plugins/sdk"

var (
	podSELinuxType = sdk.Object("spec.securityContext.seLinuxOptions.type")
	seLinuxTypes   = sdk.Object("spec.@containers[*].securityContext.seLinuxOptions.type")
)

// seLinuxNames are the options that must not be set at all.
var seLinuxNames = [...]struct {
	said string
	pod  *sdk.Field
	all  *sdk.Field
}{
	{" user", sdk.Object("spec.securityContext.seLinuxOptions.user"), sdk.Object("spec.@containers[*].securityContext.seLinuxOptions.user")},
	{" role", sdk.Object("spec.securityContext.seLinuxOptions.role"), sdk.Object("spec.@containers[*].securityContext.seLinuxOptions.role")},
}

func seLinux(r *report) {
	if !r.confinesSELinux(podSELinuxType.String()) && r.pod() {
		r.add(" type")
		r.set(podSELinuxType.String())
	}
	i := 0
	for v := range seLinuxTypes.Elements() {
		if !r.confinesSELinux(v.String()) && r.container(i) {
			r.add(" type")
			r.set(v.String())
		}
		i++
	}
	for n := range seLinuxNames {
		seLinuxName(r, n)
	}
}

func seLinuxName(r *report, n int) {
	name := &seLinuxNames[n]
	if value := name.pod.String(); value != "" && r.pod() {
		r.add(name.said)
		r.set(value)
	}
	i := 0
	for v := range name.all.Elements() {
		if v.String() != "" && r.container(i) {
			r.add(name.said)
			r.set(v.String())
		}
		i++
	}
}

// confinesSELinux reports whether an SELinux type is a type for containers.
func (r *report) confinesSELinux(name string) bool {
	switch name {
	case "", "container_t", "container_init_t", "container_kvm_t":
		return true
	case "container_engine_t":
		return r.profile.minor >= 31
	}
	return false
}
