package criconfig

import (
	"context"
	"fmt"
	"path/filepath"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/internal/cpu"
	"github.com/wardlet/wardlet/core/pod"
)

// security is the effective security context of a container: its own settings, and the pod's for
// those that it does not have.
type security struct {
	user, group  *int64
	nonRoot      bool
	privileged   bool
	readOnlyRoot bool
	escalation   *bool
	capabilities *v1.Capabilities
	seccomp      *v1.SeccompProfile
	selinux      *v1.SELinuxOptions
	unmasked     bool
	supplemental []int64
	strictGroups bool
}

// securityOf returns the effective security context of a container.
func securityOf(p *v1.Pod, c *v1.Container) security {
	var s security
	if of := p.Spec.SecurityContext; of != nil {
		s.user, s.group, s.seccomp, s.selinux = of.RunAsUser, of.RunAsGroup, of.SeccompProfile, of.SELinuxOptions
		s.nonRoot = of.RunAsNonRoot != nil && *of.RunAsNonRoot
		s.supplemental, s.strictGroups = supplementalGroups(of)
	}
	of := c.SecurityContext
	if of == nil {
		return s
	}
	s.user, s.group = either(of.RunAsUser, s.user), either(of.RunAsGroup, s.group)
	s.seccomp, s.selinux = either(of.SeccompProfile, s.seccomp), either(of.SELinuxOptions, s.selinux)
	if of.RunAsNonRoot != nil {
		s.nonRoot = *of.RunAsNonRoot
	}
	s.privileged = of.Privileged != nil && *of.Privileged
	s.readOnlyRoot = of.ReadOnlyRootFilesystem != nil && *of.ReadOnlyRootFilesystem
	s.escalation, s.capabilities = of.AllowPrivilegeEscalation, of.Capabilities
	s.unmasked = of.ProcMount != nil && *of.ProcMount == v1.UnmaskedProcMount
	return s
}

func either[T any](first, other *T) *T {
	if first != nil {
		return first
	}
	return other
}

// supplementalGroups returns the additional groups of a pod's processes: the group of its volumes,
// then the groups in its spec. strict is true if the groups that the user has in the image are
// ignored.
func supplementalGroups(of *v1.PodSecurityContext) (groups []int64, strict bool) {
	if of.FSGroup != nil {
		groups = append(groups, *of.FSGroup)
	}
	strict = of.SupplementalGroupsPolicy != nil && *of.SupplementalGroupsPolicy == v1.SupplementalGroupsPolicyStrict
	return append(groups, of.SupplementalGroups...), strict
}

func groupsPolicy(strict bool) runtimeapi.SupplementalGroupsPolicy {
	if strict {
		return runtimeapi.SupplementalGroupsPolicy_Strict
	}
	return runtimeapi.SupplementalGroupsPolicy_Merge
}

// containerSecurity returns the CRI security context of a container.
func (b *Builder) containerSecurity(ctx context.Context, run *pod.ContainerRun) (*runtimeapi.LinuxContainerSecurityContext, error) {
	p, c := run.Pod, run.Container
	s := securityOf(p, c)
	profile, oldProfile, err := appArmor(p, c)
	if err != nil {
		return nil, err
	}
	seccomp, err := b.seccompProfile(c, s.seccomp)
	if err != nil {
		return nil, err
	}
	context := &runtimeapi.LinuxContainerSecurityContext{
		NamespaceOptions:         containerNamespaces(run),
		Privileged:               s.privileged,
		ReadonlyRootfs:           s.readOnlyRoot,
		NoNewPrivs:               s.escalation != nil && !*s.escalation,
		SelinuxOptions:           selinux(s.selinux),
		SupplementalGroups:       s.supplemental,
		SupplementalGroupsPolicy: groupsPolicy(s.strictGroups),
		Apparmor:                 profile,
		ApparmorProfile:          oldProfile, //nolint:staticcheck // older runtimes know no other form
		Seccomp:                  seccomp,
		MaskedPaths:              maskedPaths(),
		ReadonlyPaths:            readOnlyPaths,
	}
	if s.unmasked {
		context.MaskedPaths, context.ReadonlyPaths = nil, nil
	}
	if of := s.capabilities; of != nil {
		context.Capabilities = &runtimeapi.Capability{AddCapabilities: names(of.Add), DropCapabilities: names(of.Drop)}
	}
	if err := b.setUser(ctx, run, &s, context); err != nil {
		return nil, err
	}
	return context, nil
}

// setUser sets the user and group of the container. If its spec specifies no user but a group, or
// runAsNonRoot, it sets the user of the image; otherwise the runtime uses that of the image.
func (b *Builder) setUser(ctx context.Context, run *pod.ContainerRun, s *security, context *runtimeapi.LinuxContainerSecurityContext) error {
	name := run.Container.Name
	if s.user != nil {
		if s.nonRoot && *s.user == 0 {
			return fmt.Errorf("container %q: runAsUser 0 breaks runAsNonRoot", name)
		}
		context.RunAsUser = &runtimeapi.Int64Value{Value: *s.user}
	} else if s.nonRoot || s.group != nil {
		uid, user, err := b.imageUser(ctx, run.ImageRef)
		switch {
		case err != nil:
			return fmt.Errorf("container %q: user of the image: %w", name, err)
		case s.nonRoot && user != "":
			return fmt.Errorf("container %q: runAsNonRoot needs a user by number, and the image has %q; set runAsUser", name, user)
		case s.nonRoot && uid == 0:
			return fmt.Errorf("container %q: runAsNonRoot, and the image runs as root; set runAsUser", name)
		case user != "":
			context.RunAsUsername = user
		default:
			context.RunAsUser = &runtimeapi.Int64Value{Value: uid}
		}
	}
	if s.group != nil {
		context.RunAsGroup = &runtimeapi.Int64Value{Value: *s.group}
	}
	return nil
}

// seccompProfile returns the profile of a container: the specified one, else the node's default.
func (b *Builder) seccompProfile(c *v1.Container, said *v1.SeccompProfile) (*runtimeapi.SecurityProfile, error) {
	switch {
	case said == nil && b.config.SeccompDefault, said != nil && said.Type == v1.SeccompProfileTypeRuntimeDefault:
		return &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_RuntimeDefault}, nil
	case said == nil, said.Type == v1.SeccompProfileTypeUnconfined:
		return &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_Unconfined}, nil
	case said.Type == v1.SeccompProfileTypeLocalhost && said.LocalhostProfile != nil:
		return &runtimeapi.SecurityProfile{
			ProfileType:  runtimeapi.SecurityProfile_Localhost,
			LocalhostRef: filepath.Join(b.config.Layout.SeccompDir(), *said.LocalhostProfile),
		}, nil
	}
	return nil, fmt.Errorf("container %q: a seccomp profile of type %q without a name, or of an unknown type", c.Name, said.Type)
}

// appArmor returns the profile of a container, in the current form and in the form for older
// runtimes. It is empty if none is specified; then the runtime's default applies.
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

func selinux(of *v1.SELinuxOptions) *runtimeapi.SELinuxOption {
	if of == nil {
		return nil
	}
	return &runtimeapi.SELinuxOption{User: of.User, Role: of.Role, Type: of.Type, Level: of.Level}
}

func names(capabilities []v1.Capability) []string {
	var all []string
	for _, c := range capabilities {
		all = append(all, string(c))
	}
	return all
}

// readOnlyPaths are the paths in a container's file systems that it cannot write.
var readOnlyPaths = []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}

// maskedPaths returns the paths that a container cannot see because they reveal information about
// the node. Both lists are a kubelet's; a runtime that gets no list masks nothing.
func maskedPaths() []string {
	paths := []string{
		"/proc/asound", "/proc/acpi", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
		"/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware", "/sys/devices/virtual/powercap",
	}
	for _, i := range cpu.Possible() {
		paths = append(paths, fmt.Sprintf("/sys/devices/system/cpu/cpu%d/thermal_throttle", i))
	}
	return paths
}

// sandboxSecurity returns the CRI security context of a sandbox.
func sandboxSecurity(p *v1.Pod) *runtimeapi.LinuxSandboxSecurityContext {
	context := &runtimeapi.LinuxSandboxSecurityContext{
		NamespaceOptions: namespaceOptions(p),
		Seccomp:          &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_RuntimeDefault},
		Privileged:       pod.Privileged(p),
	}
	of := p.Spec.SecurityContext
	if of == nil {
		return context
	}
	if of.RunAsUser != nil {
		context.RunAsUser = &runtimeapi.Int64Value{Value: *of.RunAsUser}
		if of.RunAsGroup != nil { // a runtime takes it only with a user
			context.RunAsGroup = &runtimeapi.Int64Value{Value: *of.RunAsGroup}
		}
	}
	groups, strict := supplementalGroups(of)
	context.SupplementalGroups, context.SupplementalGroupsPolicy = groups, groupsPolicy(strict)
	context.SelinuxOptions = selinux(of.SELinuxOptions)
	return context
}
