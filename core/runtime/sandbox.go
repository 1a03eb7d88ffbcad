package runtime

import (
	"context"
	"fmt"
	"maps"
	"os"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/node/util/sysctl"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// RunSandbox makes and starts a sandbox and gives its ID. An attempt that was
// made before is refused by the runtime. Where many are made it waits for its turn.
func (r *Runtime) RunSandbox(ctx context.Context, run pod.SandboxRun) (string, error) {
	config, notices, err := r.sandboxConfig(&run)
	if err != nil {
		return "", fmt.Errorf("configure sandbox: %w", err)
	}
	r.emitNotices(run.Pod, notices)
	if err := os.MkdirAll(config.LogDirectory, 0o755); err != nil { // log collectors must read it
		return "", fmt.Errorf("log directory: %w", err)
	}
	done, err := r.limiter.acquireSandbox(ctx)
	if err != nil {
		return "", fmt.Errorf("run sandbox: %w", err)
	}
	defer done()
	answer, err := r.cri.RunPodSandbox(ctx, &runtimeapi.RunPodSandboxRequest{Config: config})
	if err != nil {
		return "", fmt.Errorf("run sandbox: %w", r.explain(ctx, err))
	}
	return answer.GetPodSandboxId(), nil
}

// StopSandbox ends whatever runs in a sandbox and frees its network. One that
// does not exist is stopped.
func (r *Runtime) StopSandbox(ctx context.Context, id string) error {
	_, err := r.cri.StopPodSandbox(ctx, &runtimeapi.StopPodSandboxRequest{PodSandboxId: id})
	if err != nil && !isNotFound(err) {
		return fmt.Errorf("stop sandbox %s: %w", id, err)
	}
	return nil
}

// RemoveSandbox removes a stopped sandbox. One that does not exist is
// removed.
func (r *Runtime) RemoveSandbox(ctx context.Context, id string) error {
	_, err := r.cri.RemovePodSandbox(ctx, &runtimeapi.RemovePodSandboxRequest{PodSandboxId: id})
	if err != nil && !isNotFound(err) {
		return fmt.Errorf("remove sandbox %s: %w", id, err)
	}
	return nil
}

// sandboxConfig is what a sandbox is made with. It reads the node's
// resolv.conf and changes nothing.
func (r *Runtime) sandboxConfig(run *pod.SandboxRun) (*runtimeapi.PodSandboxConfig, []notice, error) {
	p := run.Pod
	name, err := r.kernelName(p)
	if err != nil {
		return nil, nil, err
	}
	dns, notices, err := r.dnsConfig(p)
	if err != nil {
		return nil, nil, err
	}
	ports, err := portMappings(p)
	if err != nil {
		return nil, nil, err
	}
	annotations, more, err := r.sandboxAnnotations(run)
	if err != nil {
		return nil, nil, err
	}
	notices = append(notices, more...)
	return &runtimeapi.PodSandboxConfig{
		Metadata: &runtimeapi.PodSandboxMetadata{
			Name: p.Name, Namespace: p.Namespace, Uid: string(p.UID), Attempt: run.Attempt,
		},
		Hostname:     name,
		LogDirectory: r.config.Layout.LogDir(p),
		DnsConfig:    dns,
		PortMappings: ports,
		Labels:       sandboxLabels(p),
		Annotations:  annotations,
		Linux: &runtimeapi.LinuxPodSandboxConfig{
			CgroupParent:    run.CgroupParent,
			SecurityContext: sandboxSecurity(p),
			Sysctls:         sysctls(p),
			Resources:       r.sandboxResources(p),
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

// podLabels tell whose a sandbox or container is.
func podLabels(p *v1.Pod) map[string]string {
	return map[string]string{
		pod.LabelPodName:      p.Name,
		pod.LabelPodNamespace: p.Namespace,
		pod.LabelPodUID:       string(p.UID),
	}
}

// namespaceOptions are the same for a sandbox and its containers.
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

// portMappings are all ports of all containers, as a kubelet hands them over;
// the runtime acts on those with a host port.
func portMappings(p *v1.Pod) ([]*runtimeapi.PortMapping, error) {
	var mappings []*runtimeapi.PortMapping
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
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

// notice is something a pod's owner should know, and becomes an event.
type notice struct {
	reason  string
	message string
}

// maxNoticed bounds what is remembered; beyond, it starts anew and at worst a
// notice is given twice.
const maxNoticed = 1000

// noticeLog records which notices a pod has had, so that a sandbox that is tried again
// and again does not repeat them.
type noticeLog struct {
	mu   sync.Mutex
	seen map[noticedKey]bool
}

type noticedKey struct {
	uid    types.UID
	reason string
}

// first reports whether the pod has not had this notice yet.
func (n *noticeLog) first(uid types.UID, reason string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := noticedKey{uid, reason}
	if n.seen[key] {
		return false
	}
	if n.seen == nil || len(n.seen) >= maxNoticed {
		n.seen = map[noticedKey]bool{}
	}
	n.seen[key] = true
	return true
}

// emitNotices makes events of notices, each once per pod.
func (r *Runtime) emitNotices(p *v1.Pod, notices []notice) {
	for _, n := range notices {
		if r.notices.first(p.UID, n.reason) {
			r.config.Events.Event(p, v1.EventTypeWarning, n.reason, n.message)
		}
	}
}
