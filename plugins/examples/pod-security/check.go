package main

// check is a check of the standards. id is its name in Kubernetes.
type check struct {
	id string
	// rule is what the check requires, for messages.
	rule string
	// in has, for each level, the versions in which the check belongs to the level. If
	// restricted has a stricter check than baseline, restricted has only the stricter
	// check.
	in [levels]versions
	// look reports the parts of a pod that violate the rule.
	look func(*report)
}

func both(v versions) [levels]versions           { return [levels]versions{never, v, v} }
func onlyBaseline(v versions) [levels]versions   { return [levels]versions{baseline: v} }
func onlyRestricted(v versions) [levels]versions { return [levels]versions{restricted: v} }

// checks has the checks of baseline, then those of restricted, both sorted by name. A check
// whose rule changed in some version is listed twice.
var checks = [...]check{
	{"appArmorProfile", "the AppArmor profile must be that of the runtime or of the node", both(always), appArmor},
	{
		"capabilities_baseline", "securityContext.capabilities.add may only have default capabilities",
		[levels]versions{never, always, before(22)},
		defaultCapabilities,
	},
	{"hostNamespaces", "namespaces of the host must not be used", both(always), hostNamespaces},
	{"hostPathVolumes", "hostPath volumes must not be used", onlyBaseline(always), hostPaths},
	{"hostPorts", "ports[*].hostPort must not be set", both(always), hostPorts},
	{"hostProbesAndHostLifecycle", "probes and lifecycle handlers must not name a host", both(since(34)), handlerHosts},
	{"privileged", "securityContext.privileged must not be true", both(always), privilegedContainers},
	{"procMount", `securityContext.procMount must be "Default"`, [levels]versions{never, always, before(35)}, procMount},
	{"seLinuxOptions", "securityContext.seLinuxOptions may only have a type for containers, and neither user nor role", both(always), seLinux},
	{
		"seccompProfile_baseline", "annotations must not switch seccomp off",
		both(before(19)), seccompAnnotations,
	},
	{
		"seccompProfile_baseline", `securityContext.seccompProfile.type may only be "RuntimeDefault" or "Localhost"`,
		onlyBaseline(since(19)), allowedSeccomp,
	},
	{"sysctls", "securityContext.sysctls may only have safe ones", both(always), sysctls},
	{"windowsHostProcess", "securityContext.windowsOptions.hostProcess must not be true", both(always), hostProcesses},

	{"allowPrivilegeEscalation", "securityContext.allowPrivilegeEscalation must be false", onlyRestricted(since(8)), escalation},
	{
		"capabilities_restricted", `securityContext.capabilities must drop "ALL" and may only add "NET_BIND_SERVICE"`,
		onlyRestricted(since(22)), restrictedCapabilities,
	},
	{"procMount_restricted", `securityContext.procMount must be "Default"`, onlyRestricted(since(35)), procMountOfAny},
	{"restrictedVolumes", "volumes may only be of types that hold no files of the host or the network", onlyRestricted(always), volumeTypes},
	{"runAsNonRoot", "securityContext.runAsNonRoot must be true", onlyRestricted(always), nonRoot},
	{"runAsUser", "securityContext.runAsUser must not be 0", onlyRestricted(since(23)), rootUsers},
	{
		"seccompProfile_restricted", `securityContext.seccompProfile.type must be "RuntimeDefault" or "Localhost"`,
		onlyRestricted(since(19)), requiredSeccomp,
	},
}
