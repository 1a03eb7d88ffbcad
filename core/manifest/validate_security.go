package manifest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/node/util/sysctl"
)

const (
	// maxSysctlName is the greatest length of the name of a sysctl, in bytes.
	maxSysctlName = 253
	// maxProfileName is the greatest length of the name of an AppArmor profile, in bytes: that of a
	// path.
	maxProfileName = 4095
)

var sysctlName = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

// validateSysctls checks the names of sysctls. Admission checks whether the node allows them.
func validateSysctls(sysctls []v1.Sysctl, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := map[string]bool{}
	for i := range sysctls {
		name, at := sysctls[i].Name, at.Index(i).Child("name")
		switch {
		case name == "":
			errs = append(errs, field.Required(at, ""))
		case len(name) > maxSysctlName || !sysctlName.MatchString(name):
			errs = append(errs, field.Invalid(at, name, fmt.Sprintf("must have at most %d characters and match regex %s", maxSysctlName, sysctlName)))
		case names[name]:
			errs = append(errs, field.Duplicate(at, name))
		}
		names[name] = true
	}
	return errs
}

// validateHostSysctls refuses sysctls that would change the node's own namespaces. An API server
// accepts some of them in old pods; admission refuses those.
func validateHostSysctls(s *v1.PodSpec) field.ErrorList {
	if s.SecurityContext == nil {
		return nil
	}
	var errs field.ErrorList
	for i := range s.SecurityContext.Sysctls {
		name, at := s.SecurityContext.Sysctls[i].Name, specPath.Child("securityContext", "sysctls").Index(i).Child("name")
		switch of, _, _ := sysctl.GetNamespace(name); {
		case of == sysctl.NetNamespace && s.HostNetwork:
			errs = append(errs, field.Invalid(at, name, "may not be specified when 'hostNetwork' is true"))
		case of == sysctl.IPCNamespace && s.HostIPC:
			errs = append(errs, field.Invalid(at, name, "may not be specified when 'hostIPC' is true"))
		}
	}
	return errs
}

func validateAppArmor(p *v1.AppArmorProfile, at *field.Path) field.ErrorList {
	if p == nil {
		return nil
	}
	name := at.Child("localhostProfile")
	switch p.Type {
	case "":
		return field.ErrorList{field.Required(at.Child("type"), "")}
	case v1.AppArmorProfileTypeLocalhost:
		switch {
		case p.LocalhostProfile == nil || *p.LocalhostProfile == "":
			return field.ErrorList{field.Required(name, "must be set when type is Localhost")}
		case strings.TrimSpace(*p.LocalhostProfile) != *p.LocalhostProfile:
			return field.ErrorList{field.Invalid(name, *p.LocalhostProfile, "must not be padded with whitespace")}
		case len(*p.LocalhostProfile) > maxProfileName:
			return field.ErrorList{field.TooLong(name, "", maxProfileName)}
		}
		return nil
	}
	errs := oneOf(at.Child("type"), p.Type,
		v1.AppArmorProfileTypeLocalhost, v1.AppArmorProfileTypeRuntimeDefault, v1.AppArmorProfileTypeUnconfined)
	if len(errs) == 0 && p.LocalhostProfile != nil {
		errs = append(errs, field.Invalid(name, *p.LocalhostProfile, "can only be set when type is Localhost"))
	}
	return errs
}

// validatePodSecurity checks a pod's users, groups, security profiles and sysctls.
func validatePodSecurity(s *v1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.ShareProcessNamespace != nil && *s.ShareProcessNamespace && s.HostPID {
		errs = append(errs, field.Invalid(specPath.Child("shareProcessNamespace"), true, "ShareProcessNamespace and HostPID cannot both be enabled"))
	}
	of := s.SecurityContext
	if of == nil {
		return errs
	}
	errs = append(errs, validateUser(of.RunAsUser, of.RunAsGroup, at)...)
	errs = append(errs, validateID(of.FSGroup, at.Child("fsGroup"), validation.IsValidGroupID)...)
	for i := range of.SupplementalGroups {
		errs = append(errs, validateID(&of.SupplementalGroups[i], at.Child("supplementalGroups").Index(i), validation.IsValidGroupID)...)
	}
	if p := of.FSGroupChangePolicy; p != nil {
		errs = append(errs, oneOf(at.Child("fsGroupChangePolicy"), *p, v1.FSGroupChangeOnRootMismatch, v1.FSGroupChangeAlways)...)
	}
	if p := of.SupplementalGroupsPolicy; p != nil {
		errs = append(errs, oneOf(at.Child("supplementalGroupsPolicy"), *p, v1.SupplementalGroupsPolicyMerge, v1.SupplementalGroupsPolicyStrict)...)
	}
	errs = append(errs, validateSysctls(of.Sysctls, at.Child("sysctls"))...)
	errs = append(errs, validateSeccomp(of.SeccompProfile, at.Child("seccompProfile"))...)
	return append(errs, validateAppArmor(of.AppArmorProfile, at.Child("appArmorProfile"))...)
}

// validateContainerSecurity checks a container's user, group, security profiles and privileges.
func validateContainerSecurity(of *v1.SecurityContext, at *field.Path) field.ErrorList {
	if of == nil {
		return nil
	}
	errs := validateUser(of.RunAsUser, of.RunAsGroup, at)
	errs = append(errs, validateSeccomp(of.SeccompProfile, at.Child("seccompProfile"))...)
	errs = append(errs, validateAppArmor(of.AppArmorProfile, at.Child("appArmorProfile"))...)
	if of.AllowPrivilegeEscalation == nil || *of.AllowPrivilegeEscalation {
		return errs
	}
	if of.Privileged != nil && *of.Privileged {
		errs = append(errs, field.Invalid(at, "", "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"))
	}
	if of.Capabilities != nil && slices.Contains(of.Capabilities.Add, "CAP_SYS_ADMIN") {
		errs = append(errs, field.Invalid(at, "", "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"))
	}
	return errs
}

func validateUser(user, group *int64, at *field.Path) field.ErrorList {
	return append(validateID(user, at.Child("runAsUser"), validation.IsValidUserID), validateID(group, at.Child("runAsGroup"), validation.IsValidGroupID)...)
}

func validateID(id *int64, at *field.Path, check func(int64) []string) field.ErrorList {
	if id == nil {
		return nil
	}
	return invalid(at, *id, check(*id))
}

func validateSeccomp(p *v1.SeccompProfile, at *field.Path) field.ErrorList {
	if p == nil {
		return nil
	}
	name := at.Child("localhostProfile")
	switch p.Type {
	case "":
		return field.ErrorList{field.Required(at.Child("type"), "type is required when seccompProfile is set")}
	case v1.SeccompProfileTypeLocalhost:
		if p.LocalhostProfile == nil {
			return field.ErrorList{field.Required(name, "must be set when seccomp type is Localhost")}
		}
		return validateLocalPath(*p.LocalhostProfile, name)
	}
	errs := oneOf(at.Child("type"), p.Type, v1.SeccompProfileTypeLocalhost, v1.SeccompProfileTypeRuntimeDefault, v1.SeccompProfileTypeUnconfined)
	if len(errs) == 0 && p.LocalhostProfile != nil {
		errs = append(errs, field.Invalid(name, p, "can only be set when seccomp type is Localhost"))
	}
	return errs
}

// validateLocalPath checks that a path stays below the directory that it is joined to.
func validateLocalPath(path string, at *field.Path) field.ErrorList {
	switch {
	case strings.HasPrefix(path, "/"):
		return field.ErrorList{field.Invalid(at, path, "must be a relative path")}
	case slices.Contains(strings.Split(path, "/"), ".."):
		return field.ErrorList{field.Invalid(at, path, "must not contain '..'")}
	}
	return nil
}
