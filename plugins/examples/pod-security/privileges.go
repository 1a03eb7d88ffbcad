package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/str"
)

var (
	privilegedSet = sdk.Object("spec.@containers[*].securityContext.privileged")
	escalationSet = sdk.Object("spec.@containers[*].securityContext.allowPrivilegeEscalation")
	added         = sdk.Object("spec.@containers[*].securityContext.capabilities.add")
	dropped       = sdk.Object("spec.@containers[*].securityContext.capabilities.drop")
)

func privilegedContainers(r *report) { r.wherever(privilegedSet, true) }

func escalation(r *report) {
	if r.ofWindows() {
		return
	}
	i := 0
	for v := range escalationSet.Elements() {
		if (!v.Exists() || v.Bool()) && r.container(i) && !v.Exists() {
			r.add(" does not set it")
		}
		i++
	}
}

// isDefault reports whether containers have a capability by default.
func isDefault(capability string) bool {
	switch capability {
	case "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE",
		"SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT":
		return true
	}
	return false
}

func defaultCapabilities(r *report) {
	i := 0
	for list := range added.Elements() {
		for capability := range list.AllStrings() {
			if !isDefault(capability) && r.container(i) {
				r.add(" adds")
				r.set(capability)
			}
		}
		i++
	}
}

func restrictedCapabilities(r *report) {
	if r.ofWindows() {
		return
	}
	i := 0
	for adds, drops := range sdk.Zip(added, dropped) {
		if !hasAll(drops) && r.container(i) {
			r.add(` does not drop "ALL"`)
		}
		for capability := range adds.AllStrings() {
			if !str.Equal(capability, "NET_BIND_SERVICE") && r.container(i) {
				r.add(" adds")
				r.set(capability)
			}
		}
		i++
	}
}

func hasAll(capabilities sdk.Value) bool {
	for capability := range capabilities.AllStrings() {
		if capability == "ALL" {
			return true
		}
	}
	return false
}
