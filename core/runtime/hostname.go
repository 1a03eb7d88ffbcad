package runtime

import (
	"strings"

	v1 "k8s.io/api/core/v1"
)

// maxHostname is the kernel's limit less one, as a kubelet has it.
const maxHostname = 63

// hostname is the name a pod's sandbox gets; empty on the node's network,
// where the node's own holds.
func hostname(p *v1.Pod) string {
	switch {
	case p.Spec.HostNetwork:
		return ""
	case p.Spec.HostnameOverride != nil:
		return *p.Spec.HostnameOverride
	}
	name := p.Spec.Hostname
	if name == "" {
		name = p.Name
	}
	if len(name) > maxHostname {
		name = strings.TrimRight(name[:maxHostname], "-.")
	}
	return name
}
