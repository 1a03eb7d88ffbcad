package criconfig

import (
	"cmp"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// HostNames returns the names of a pod in its hosts file: its hostname, after its fully qualified
// name if it has one.
func (b *Builder) HostNames(p *v1.Pod) string {
	if whole := b.fqdn(p); whole != "" {
		return whole + "\t" + hostname(p)
	}
	return hostname(p)
}

// fqdn returns the fully qualified name of a pod with a subdomain; empty for others.
func (b *Builder) fqdn(p *v1.Pod) string {
	if p.Spec.Subdomain == "" || b.config.ClusterDomain == "" || p.Spec.HostnameOverride != nil {
		return ""
	}
	return hostname(p) + "." + p.Spec.Subdomain + "." + p.Namespace + ".svc." + b.config.ClusterDomain
}

// kernelName returns the name that the kernel reports in a pod: its hostname, or its fully
// qualified name if the pod asks for that.
func (b *Builder) kernelName(p *v1.Pod) (string, error) {
	if p.Spec.HostNetwork || p.Spec.SetHostnameAsFQDN == nil || !*p.Spec.SetHostnameAsFQDN {
		return hostname(p), nil
	}
	whole := b.fqdn(p)
	switch {
	case whole == "":
		return hostname(p), nil
	case len(whole) > maxFQDN:
		return "", fmt.Errorf("setHostnameAsFQDN: %q has more than the %d characters that the kernel takes; shorten hostname or subdomain", whole, maxFQDN)
	}
	return whole, nil
}

// maxHostname is the kernel's limit minus one, as in a kubelet; maxFQDN is the kernel's limit.
const (
	maxHostname = 63
	maxFQDN     = 64
)

// hostname returns the hostname of a pod's sandbox; empty on the node's network, where the node's
// hostname is used.
func hostname(p *v1.Pod) string {
	name := cmp.Or(p.Spec.Hostname, p.Name)
	switch {
	case p.Spec.HostNetwork:
		return ""
	case p.Spec.HostnameOverride != nil:
		name = *p.Spec.HostnameOverride
	}
	if len(name) > maxHostname {
		name = strings.TrimRight(name[:maxHostname], "-.")
	}
	return name
}
