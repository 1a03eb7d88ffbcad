package manifest

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	helper "k8s.io/component-helpers/resource"

	"github.com/wardlet/wardlet/core/pod"
)

// maxPath is the greatest length of a path in the kernel, in bytes.
const maxPath = 4096

// validateContainers checks the containers of all kinds. Their names must be unique together.
func validateContainers(s *v1.PodSpec, volumes map[string]bool) field.ErrorList {
	if len(s.Containers) == 0 {
		return field.ErrorList{field.Required(specPath.Child("containers"), "")}
	}
	var errs field.ErrorList
	check := containerCheck{spec: s, volumes: volumes, names: map[string]bool{}}
	hostPorts := map[string]bool{}
	for i := range s.Containers {
		at := specPath.Child("containers").Index(i)
		errs = append(errs, check.container(&s.Containers[i], hostPorts, at)...)
		errs = append(errs, validateProbes(&s.Containers[i], true, at)...)
		errs = append(errs, validateLifecycle(s, &s.Containers[i], true, at.Child("lifecycle"))...)
	}
	for i := range s.InitContainers {
		at := specPath.Child("initContainers").Index(i)
		errs = append(errs, check.container(&s.InitContainers[i], map[string]bool{}, at)...)
		sidecar := pod.IsSidecar(&s.InitContainers[i])
		errs = append(errs, validateProbes(&s.InitContainers[i], sidecar, at)...)
		errs = append(errs, validateLifecycle(s, &s.InitContainers[i], sidecar, at.Child("lifecycle"))...)
	}
	for i := range s.EphemeralContainers {
		c, at := &s.EphemeralContainers[i], specPath.Child("ephemeralContainers").Index(i)
		errs = append(errs, check.container((*v1.Container)(&c.EphemeralContainerCommon), nil, at)...)
		if target := c.TargetContainerName; target != "" && !slices.ContainsFunc(s.Containers, func(c v1.Container) bool { return c.Name == target }) {
			errs = append(errs, field.NotFound(at.Child("targetContainerName"), target))
		}
	}
	return errs
}

// containerCheck is the state for checking the containers of a pod together.
type containerCheck struct {
	spec    *v1.PodSpec
	volumes map[string]bool
	// names are the names of the containers so far.
	names map[string]bool
}

// container checks one container. hostPorts are the host ports of the containers that run beside
// it.
func (k *containerCheck) container(c *v1.Container, hostPorts map[string]bool, at *field.Path) field.ErrorList {
	errs := uniqueLabel(at.Child("name"), c.Name, k.names)
	if c.Image == "" {
		errs = append(errs, field.Required(at.Child("image"), ""))
	} else if strings.TrimSpace(c.Image) != c.Image {
		errs = append(errs, field.Invalid(at.Child("image"), c.Image, "must not have leading or trailing whitespace"))
	}
	errs = append(errs, oneOf(at.Child("imagePullPolicy"), c.ImagePullPolicy,
		v1.PullAlways, v1.PullIfNotPresent, v1.PullNever)...)
	errs = append(errs, oneOf(at.Child("terminationMessagePolicy"), c.TerminationMessagePolicy,
		v1.TerminationMessageReadFile, v1.TerminationMessageFallbackToLogsOnError)...)
	if len(c.TerminationMessagePath) > maxPath {
		errs = append(errs, field.TooLong(at.Child("terminationMessagePath"), "", maxPath))
	}
	errs = append(errs, validateEnv(c.Env, k.spec.Volumes, at.Child("env"))...)
	errs = append(errs, validateEnvFrom(c.EnvFrom, at.Child("envFrom"))...)
	errs = append(errs, validatePorts(c.Ports, k.spec.HostNetwork, hostPorts, at.Child("ports"))...)
	errs = append(errs, validateResources(&c.Resources, at.Child("resources"))...)
	errs = append(errs, validateMounts(c, k.volumes, at.Child("volumeMounts"))...)
	errs = append(errs, validateRestart(c, at)...)
	return append(errs, validateContainerSecurity(c.SecurityContext, at.Child("securityContext"))...)
}

// maxRestartRules is the greatest number of restart rules of a container, maxExitCodes that of the
// exit codes of a rule.
const maxRestartRules, maxExitCodes = 20, 255

// validateRestart checks the container's own restart policy and restart rules, if it has them.
func validateRestart(c *v1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if c.RestartPolicy != nil {
		errs = append(errs, oneOf(at.Child("restartPolicy"), *c.RestartPolicy,
			v1.ContainerRestartPolicyAlways, v1.ContainerRestartPolicyOnFailure, v1.ContainerRestartPolicyNever)...)
	}
	at = at.Child("restartPolicyRules")
	switch {
	case len(c.RestartPolicyRules) == 0:
		return errs
	case c.RestartPolicy == nil:
		return append(errs, field.Required(at, "must specify restartPolicy when restart rules are used"))
	case len(c.RestartPolicyRules) > maxRestartRules:
		return append(errs, field.TooMany(at, len(c.RestartPolicyRules), maxRestartRules))
	}
	for i := range c.RestartPolicyRules {
		r, at := &c.RestartPolicyRules[i], at.Index(i)
		errs = append(errs, oneOf(at.Child("action"), r.Action, v1.ContainerRestartRuleActionRestart, v1.ContainerRestartRuleActionRestartAllContainers)...)
		if r.ExitCodes == nil {
			errs = append(errs, field.Required(at.Child("exitCodes"), "must be specified"))
			continue
		}
		errs = append(errs, oneOf(at.Child("exitCodes", "operator"), r.ExitCodes.Operator,
			v1.ContainerRestartRuleOnExitCodesOpIn, v1.ContainerRestartRuleOnExitCodesOpNotIn)...)
		if n := len(r.ExitCodes.Values); n > maxExitCodes {
			errs = append(errs, field.TooMany(at.Child("exitCodes", "values"), n, maxExitCodes))
		}
	}
	return errs
}

// validatePorts checks the ports of one container. hostPorts are the host ports of the whole pod.
func validatePorts(ports []v1.ContainerPort, hostNetwork bool, hostPorts map[string]bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := map[string]bool{}
	for i := range ports {
		p, at := &ports[i], at.Index(i)
		if p.Name != "" {
			if messages := validation.IsValidPortName(p.Name); len(messages) > 0 {
				errs = append(errs, invalid(at.Child("name"), p.Name, messages)...)
			} else if names[p.Name] {
				errs = append(errs, field.Duplicate(at.Child("name"), p.Name))
			}
			names[p.Name] = true
		}
		if p.ContainerPort == 0 {
			errs = append(errs, field.Required(at.Child("containerPort"), ""))
		} else {
			errs = append(errs, invalid(at.Child("containerPort"), p.ContainerPort, validation.IsValidPortNum(int(p.ContainerPort)))...)
		}
		errs = append(errs, oneOf(at.Child("protocol"), p.Protocol, v1.ProtocolTCP, v1.ProtocolUDP, v1.ProtocolSCTP)...)
		if p.HostIP != "" {
			if ip, err := netip.ParseAddr(p.HostIP); err != nil || ip.Zone() != "" {
				errs = append(errs, field.Invalid(at.Child("hostIP"), p.HostIP, "must be an IP address"))
			}
		}
		if p.HostPort == 0 {
			continue
		}
		errs = append(errs, invalid(at.Child("hostPort"), p.HostPort, validation.IsValidPortNum(int(p.HostPort)))...)
		if hostNetwork && p.HostPort != p.ContainerPort {
			errs = append(errs, field.Invalid(at.Child("hostPort"), p.HostPort,
				"must be the containerPort, or absent, with hostNetwork"))
		}
		key := fmt.Sprintf("%s/%s/%d", p.Protocol, p.HostIP, p.HostPort)
		if hostPorts[key] {
			errs = append(errs, field.Duplicate(at.Child("hostPort"), key))
		}
		hostPorts[key] = true
	}
	return errs
}

func validateMounts(c *v1.Container, volumes map[string]bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	paths := map[string]bool{}
	for i := range c.VolumeMounts {
		m, at := &c.VolumeMounts[i], at.Index(i)
		if m.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		} else if !volumes[m.Name] {
			errs = append(errs, field.NotFound(at.Child("name"), m.Name))
		}
		switch {
		case m.MountPath == "":
			errs = append(errs, field.Required(at.Child("mountPath"), ""))
		case paths[m.MountPath]:
			errs = append(errs, field.Invalid(at.Child("mountPath"), m.MountPath, "must be unique"))
		}
		paths[m.MountPath] = true
		errs = append(errs, validateDescending(m.SubPath, at.Child("subPath"))...)
		if m.SubPath != "" && m.SubPathExpr != "" {
			errs = append(errs, field.Invalid(at.Child("subPathExpr"), m.SubPathExpr, "subPathExpr and subPath are mutually exclusive"))
		}
		errs = append(errs, validateDescending(m.SubPathExpr, at.Child("subPathExpr"))...)
		errs = append(errs, validatePropagation(m.MountPropagation, c, at.Child("mountPropagation"))...)
		errs = append(errs, validateRecursive(m, at.Child("recursiveReadOnly"))...)
	}
	return errs
}

// validateDescending checks a path below a directory. The empty path is the directory itself.
func validateDescending(path string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if strings.HasPrefix(path, "/") {
		errs = append(errs, field.Invalid(at, path, "must be a relative path"))
	}
	if slices.Contains(strings.Split(path, "/"), "..") {
		errs = append(errs, field.Invalid(at, path, "must not contain '..'"))
	}
	return errs
}

func validateRecursive(m *v1.VolumeMount, at *field.Path) field.ErrorList {
	switch {
	case m.RecursiveReadOnly == nil || *m.RecursiveReadOnly == v1.RecursiveReadOnlyDisabled:
		return nil
	case *m.RecursiveReadOnly != v1.RecursiveReadOnlyEnabled && *m.RecursiveReadOnly != v1.RecursiveReadOnlyIfPossible:
		return oneOf(at, *m.RecursiveReadOnly, v1.RecursiveReadOnlyDisabled, v1.RecursiveReadOnlyEnabled, v1.RecursiveReadOnlyIfPossible)
	}
	var errs field.ErrorList
	if !m.ReadOnly {
		errs = append(errs, field.Forbidden(at, "may only be specified when readOnly is true"))
	}
	if m.MountPropagation != nil && *m.MountPropagation != v1.MountPropagationNone {
		errs = append(errs, field.Forbidden(at, "may only be specified when mountPropagation is None or not specified"))
	}
	return errs
}

func validatePropagation(mode *v1.MountPropagationMode, c *v1.Container, at *field.Path) field.ErrorList {
	if mode == nil {
		return nil
	}
	if *mode == v1.MountPropagationBidirectional && (c.SecurityContext == nil || c.SecurityContext.Privileged == nil || !*c.SecurityContext.Privileged) {
		return field.ErrorList{field.Forbidden(at, "Bidirectional mount propagation is available only to privileged containers")}
	}
	return oneOf(at, *mode, v1.MountPropagationNone, v1.MountPropagationHostToContainer, v1.MountPropagationBidirectional)
}

// isExtendedResource reports whether the name is that of an extended resource, which has the domain
// of its vendor.
func isExtendedResource(name v1.ResourceName) bool {
	return strings.Contains(string(name), "/") && !strings.Contains(string(name), v1.ResourceDefaultNamespacePrefix) &&
		!strings.HasPrefix(string(name), v1.DefaultResourceRequestsPrefix)
}

// isWhole reports whether a resource cannot be overcommitted: its request is its limit.
func isWhole(name v1.ResourceName) bool { return isExtendedResource(name) || pod.IsHugePages(name) }

// validateResources checks the quantities of resources, and that requests fit the limits.
func validateResources(r *v1.ResourceRequirements, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(r.Limits)) {
		errs = append(errs, validateQuantity(name, r.Limits[name], at.Child("limits").Key(string(name)))...)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		request, at, limitAt := r.Requests[name], at.Child("requests").Key(string(name)), at.Child("limits").Key(string(name))
		errs = append(errs, validateQuantity(name, request, at)...)
		limit, limited := r.Limits[name]
		switch {
		case !limited && isWhole(name):
			errs = append(errs, field.Required(limitAt, fmt.Sprintf("%s needs a limit, which is the request", name)))
		case limited && isWhole(name) && request.Cmp(limit) != 0:
			errs = append(errs, field.Invalid(at, request.String(), fmt.Sprintf("must be equal to %s limit of %s", name, limit.String())))
		case limited && request.Cmp(limit) > 0:
			errs = append(errs, field.Invalid(at, request.String(),
				fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String())))
		}
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(r.Limits)), maps.Keys(r.Requests))
	if slices.ContainsFunc(names, pod.IsHugePages) && !slices.Contains(names, v1.ResourceCPU) && !slices.Contains(names, v1.ResourceMemory) {
		errs = append(errs, field.Forbidden(at, "huge pages require cpu or memory"))
	}
	return errs
}

// validatePodResources checks the resources of the whole pod, if it has them, and that those of its
// containers fit into them.
func validatePodResources(s *v1.PodSpec, at *field.Path) field.ErrorList {
	if s.Resources == nil {
		return nil
	}
	errs := validateResources(s.Resources, at)
	p := &v1.Pod{Spec: *s}
	requests := helper.AggregateContainerRequests(p, helper.PodResourcesOptions{})
	for _, name := range slices.Sorted(maps.Keys(s.Resources.Requests)) {
		own, sum := s.Resources.Requests[name], requests[name]
		if sum.Cmp(own) > 0 {
			errs = append(errs, field.Invalid(at.Child("requests").Key(string(name)), own.String(),
				"must be greater than or equal to aggregate container requests of "+sum.String()))
		}
	}
	limits := helper.AggregateContainerLimits(p, helper.PodResourcesOptions{})
	for _, name := range slices.Sorted(maps.Keys(s.Resources.Limits)) {
		own, sum := s.Resources.Limits[name], limits[name]
		if pod.IsHugePages(name) && sum.Cmp(own) > 0 {
			errs = append(errs, field.Invalid(at.Child("limits").Key(string(name)), own.String(),
				"must be greater than or equal to aggregate container limits of "+sum.String()))
		}
		for i := range s.Containers {
			if limit := s.Containers[i].Resources.Limits[name]; limit.Cmp(own) > 0 {
				errs = append(errs, field.Invalid(specPath.Child("containers").Index(i).Child("resources", "limits").Key(string(name)),
					limit.String(), "must be less than or equal to pod limits of "+own.String()))
			}
		}
	}
	return errs
}

// validateOverhead checks the resources that a sandbox needs besides the containers.
func validateOverhead(overhead v1.ResourceList, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(overhead)) {
		errs = append(errs, validateQuantity(name, overhead[name], at.Key(string(name)))...)
	}
	return errs
}

// validateQuantity checks the quantity of a resource. Huge pages are whole pages. Extended resources
// are whole numbers, and their names must also be valid as names of quotas.
func validateQuantity(name v1.ResourceName, q resource.Quantity, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if q.Sign() < 0 {
		errs = append(errs, field.Invalid(at, q.String(), "must be greater than or equal to 0"))
	}
	if pod.IsHugePages(name) {
		size := pod.PageSize(name)
		if messages := validation.IsQualifiedName(string(name)); len(messages) > 0 {
			errs = append(errs, invalid(at, name, messages)...)
		} else if size == 0 || q.Value()%size != 0 {
			errs = append(errs, field.Invalid(at, q.String(), fmt.Sprintf("is not positive integer multiple of %s", name)))
		}
	}
	if !isExtendedResource(name) {
		return errs
	}
	if messages := validation.IsQualifiedName(string(name)); len(messages) > 0 {
		errs = append(errs, invalid(at, name, messages)...)
	} else {
		errs = append(errs, invalid(at, name, validation.IsQualifiedName(v1.DefaultResourceRequestsPrefix+string(name)))...)
	}
	if q.MilliValue()%1000 != 0 {
		errs = append(errs, field.Invalid(at, q.String(), "must be an integer"))
	}
	return errs
}
