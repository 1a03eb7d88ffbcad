package criconfig

import (
	"fmt"
	"maps"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/node/util/sysctl"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Sandbox returns the configuration of a sandbox, and notices for the pod's owner. It reads the
// node's resolv.conf and changes nothing.
func (b *Builder) Sandbox(run *pod.SandboxRun) (*runtimeapi.PodSandboxConfig, []Notice, error) {
	p := run.Pod
	name, err := b.kernelName(p)
	if err != nil {
		return nil, nil, err
	}
	dns, notices, err := b.dnsConfig(p)
	if err != nil {
		return nil, nil, err
	}
	ports, err := portMappings(p)
	if err != nil {
		return nil, nil, err
	}
	annotations, more, err := b.sandboxAnnotations(run)
	if err != nil {
		return nil, nil, err
	}
	notices = append(notices, more...)
	return &runtimeapi.PodSandboxConfig{
		Metadata: &runtimeapi.PodSandboxMetadata{
			Name: p.Name, Namespace: p.Namespace, Uid: string(p.UID), Attempt: run.Attempt,
		},
		Hostname:     name,
		LogDirectory: b.config.Layout.LogDir(p),
		DnsConfig:    dns,
		PortMappings: ports,
		Labels:       sandboxLabels(p),
		Annotations:  annotations,
		Linux: &runtimeapi.LinuxPodSandboxConfig{
			CgroupParent:    run.CgroupParent,
			SecurityContext: sandboxSecurity(p),
			Sysctls:         sysctls(p),
			Resources:       b.sandboxResources(p),
			Overhead:        b.sandboxOverhead(p),
		},
	}, notices, nil
}

func sandboxLabels(p *v1.Pod) map[string]string {
	labels := maps.Clone(p.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, podLabels(p))
	return labels
}

// podLabels returns the labels that identify the pod of a sandbox or container.
func podLabels(p *v1.Pod) map[string]string {
	return map[string]string{
		pod.LabelPodName:      p.Name,
		pod.LabelPodNamespace: p.Namespace,
		pod.LabelPodUID:       string(p.UID),
	}
}

// containerNamespaces returns the namespaces of a container: those of its sandbox, except that an
// ephemeral container with a target sees the processes of that target.
func containerNamespaces(run *pod.ContainerRun) *runtimeapi.NamespaceOption {
	options := namespaceOptions(run.Pod)
	if run.TargetID != "" {
		options.Pid, options.TargetId = runtimeapi.NamespaceMode_TARGET, run.TargetID
	}
	return options
}

// namespaceOptions returns the namespaces, which are the same for a sandbox and its containers.
func namespaceOptions(p *v1.Pod) *runtimeapi.NamespaceOption {
	options := &runtimeapi.NamespaceOption{
		Network: runtimeapi.NamespaceMode_POD,
		Pid:     runtimeapi.NamespaceMode_CONTAINER,
		Ipc:     runtimeapi.NamespaceMode_POD,
	}
	if p.Spec.HostNetwork {
		options.Network = runtimeapi.NamespaceMode_NODE
	}
	if p.Spec.HostIPC {
		options.Ipc = runtimeapi.NamespaceMode_NODE
	}
	switch {
	case p.Spec.HostPID:
		options.Pid = runtimeapi.NamespaceMode_NODE
	case p.Spec.ShareProcessNamespace != nil && *p.Spec.ShareProcessNamespace:
		options.Pid = runtimeapi.NamespaceMode_POD
	}
	return options
}

// portMappings returns all ports of the regular containers and sidecars, as a kubelet passes them;
// the runtime uses those with a host port.
func portMappings(p *v1.Pod) ([]*runtimeapi.PortMapping, error) {
	var mappings []*runtimeapi.PortMapping
	for c, kind := range pod.Containers(p) {
		if kind != pod.RegularContainer && kind != pod.Sidecar {
			continue
		}
		for _, port := range c.Ports {
			protocol, ok := runtimeapi.Protocol_value[string(port.Protocol)]
			if !ok && port.Protocol != "" {
				return nil, fmt.Errorf("container %q: port %d: unknown protocol %q; use TCP, UDP or SCTP", c.Name, port.ContainerPort, port.Protocol)
			}
			mappings = append(mappings, &runtimeapi.PortMapping{
				Protocol:      runtimeapi.Protocol(protocol),
				ContainerPort: port.ContainerPort,
				HostPort:      port.HostPort,
				HostIp:        port.HostIP,
			})
		}
	}
	return mappings, nil
}

// sysctls returns the sysctls of the pod's namespaces, by the names that the runtime uses, which
// contain dots.
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
