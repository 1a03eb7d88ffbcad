package manifest

import (
	"fmt"
	"regexp"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/node/util/sysctl"
)

const (
	// maxSysctlName is how long the name of a sysctl may be, in bytes.
	maxSysctlName = 253
	// maxProfileName is the same for an AppArmor profile: that of a path.
	maxProfileName = 4095
)

var sysctlName = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

// validateSysctls checks the names. Whether the node allows them is for
// admission to say.
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

// validateHostSysctls refuses those that would change the node's own namespaces.
// An API server takes some of old pods nevertheless; admission refuses these.
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
