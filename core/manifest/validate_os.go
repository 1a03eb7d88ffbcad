package manifest

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateOS checks that a pod says which system it is for, and nothing that the
// system does not have.
func validateOS(s *v1.PodSpec) field.ErrorList {
	at := specPath.Child("os", "name")
	switch {
	case s.OS == nil:
		return nil
	case s.OS.Name == "":
		return field.ErrorList{field.Required(at, "")}
	case s.OS.Name != v1.Windows:
		return oneOf(at, s.OS.Name, v1.Linux, v1.Windows)
	}
	var errs field.ErrorList
	forbid := func(set bool, at *field.Path) {
		if set {
			errs = append(errs, field.Forbidden(at, "cannot be set for a windows pod"))
		}
	}
	forbid(s.HostUsers != nil, specPath.Child("hostUsers"))
	forbid(s.HostPID, specPath.Child("hostPID"))
	forbid(s.HostIPC, specPath.Child("hostIPC"))
	forbid(s.ShareProcessNamespace != nil, specPath.Child("shareProcessNamespace"))
	if c := s.SecurityContext; c != nil {
		forbid(c.AppArmorProfile != nil, specPath.Child("securityContext", "appArmorProfile"))
		forbid(len(c.Sysctls) > 0, specPath.Child("securityContext", "sysctls"))
	}
	forbidAll := func(list []v1.Container, path *field.Path) {
		for i := range list {
			c, at := list[i].SecurityContext, path.Index(i).Child("securityContext")
			if c == nil {
				continue
			}
			forbid(c.AppArmorProfile != nil, at.Child("appArmorProfile"))
			forbid(c.Privileged != nil, at.Child("privileged"))
			forbid(c.AllowPrivilegeEscalation != nil, at.Child("allowPrivilegeEscalation"))
			forbid(c.ReadOnlyRootFilesystem != nil, at.Child("readOnlyRootFilesystem"))
		}
	}
	forbidAll(s.Containers, specPath.Child("containers"))
	forbidAll(s.InitContainers, specPath.Child("initContainers"))
	return errs
}
