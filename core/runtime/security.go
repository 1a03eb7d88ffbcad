package runtime

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/node/util/sysctl"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// sysctls are those of the pod's namespaces, by the names that the runtime
// knows, which have dots.
func sysctls(p *v1.Pod) map[string]string {
	if p.Spec.SecurityContext == nil || len(p.Spec.SecurityContext.Sysctls) == 0 {
		return nil
	}
	set := map[string]string{}
	for _, s := range p.Spec.SecurityContext.Sysctls {
		set[sysctl.NormalizeName(s.Name)] = s.Value
	}
	return set
}

// appArmor is the profile of a container, in the form of today and in that of
// older runtimes. A container of which nothing is said has the runtime's.
func appArmor(p *v1.Pod, c *v1.Container) (profile *runtimeapi.SecurityProfile, old string, err error) {
	said := pod.AppArmorProfile(p, c)
	if said == nil {
		return nil, "", nil
	}
	switch said.Type {
	case v1.AppArmorProfileTypeRuntimeDefault:
		return &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_RuntimeDefault}, "runtime/default", nil
	case v1.AppArmorProfileTypeUnconfined:
		return &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_Unconfined}, "unconfined", nil
	case v1.AppArmorProfileTypeLocalhost:
		if said.LocalhostProfile == nil {
			return nil, "", fmt.Errorf("container %q: the AppArmor profile has no name", c.Name)
		}
		name := *said.LocalhostProfile
		return &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_Localhost, LocalhostRef: name}, "localhost/" + name, nil
	}
	return nil, "", fmt.Errorf("container %q: unknown type %q of an AppArmor profile", c.Name, said.Type)
}
