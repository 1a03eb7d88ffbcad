package runtime

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

const etcHosts = "/etc/hosts"

// The headers a kubelet writes, by which people know the file is generated.
const (
	hostsHeader        = "# Kubernetes-managed hosts file.\n"
	hostsHeaderHostNet = "# Kubernetes-managed hosts file (host network).\n"
)

const hostsLoopback = "127.0.0.1\tlocalhost\n" +
	"::1\tlocalhost ip6-localhost ip6-loopback\n" +
	"fe00::0\tip6-localnet\n" +
	"fe00::0\tip6-mcastprefix\n" +
	"fe00::1\tip6-allnodes\n" +
	"fe00::2\tip6-allrouters\n"

// managesHosts reports whether the container gets our /etc/hosts: not if it
// mounts its own, nor while a pod with its own network has no address.
func managesHosts(run *pod.ContainerRun) bool {
	own := slices.ContainsFunc(run.Mounts, func(m pod.Mount) bool { return path.Clean(m.ContainerPath) == etcHosts })
	return !own && (run.Pod.Spec.HostNetwork || len(run.SandboxIPs) > 0)
}

// writeHosts writes the pod's hosts file. It is written in place, for
// containers that have it mounted, and only if it differs.
func (r *Runtime) writeHosts(run *pod.ContainerRun) error {
	content, err := r.hostsContent(run.Pod, run.SandboxIPs)
	if err != nil {
		return err
	}
	if err := syncFile(r.config.Layout.HostsFile(run.Pod.UID), content); err != nil {
		return fmt.Errorf("hosts file: %w", err)
	}
	return nil
}

// hostsContent returns the content of a pod's hosts file.
func (r *Runtime) hostsContent(p *v1.Pod, ips []string) ([]byte, error) {
	var out strings.Builder
	if p.Spec.HostNetwork {
		node, err := os.ReadFile(r.config.HostsFile)
		if err != nil {
			return nil, fmt.Errorf("hosts file of the node: %w", err)
		}
		out.WriteString(hostsHeaderHostNet)
		out.Write(node)
	} else {
		out.WriteString(hostsHeader)
		out.WriteString(hostsLoopback)
		for _, ip := range ips {
			fmt.Fprintf(&out, "%s\t%s\n", ip, r.hostNames(p))
		}
	}
	if len(p.Spec.HostAliases) > 0 {
		out.WriteString("\n# Entries added by HostAliases.\n")
	}
	for _, alias := range p.Spec.HostAliases {
		fmt.Fprintf(&out, "%s\t%s\n", alias.IP, strings.Join(alias.Hostnames, "\t"))
	}
	return []byte(out.String()), nil
}

// hostNames are the names of a pod in its hosts file: its own, after the whole one where it has a subdomain.
func (r *Runtime) hostNames(p *v1.Pod) string {
	if whole := r.fqdn(p); whole != "" {
		return whole + "\t" + hostname(p)
	}
	return hostname(p)
}

// fqdn is the whole name of a pod with a subdomain; empty for others.
func (r *Runtime) fqdn(p *v1.Pod) string {
	if p.Spec.Subdomain == "" || r.config.ClusterDomain == "" || p.Spec.HostnameOverride != nil {
		return ""
	}
	return hostname(p) + "." + p.Spec.Subdomain + "." + p.Namespace + ".svc." + r.config.ClusterDomain
}

// kernelName is the name that a pod's kernel gives: its own, or its whole one where it asks for that.
func (r *Runtime) kernelName(p *v1.Pod) (string, error) {
	if p.Spec.HostNetwork || p.Spec.SetHostnameAsFQDN == nil || !*p.Spec.SetHostnameAsFQDN {
		return hostname(p), nil
	}
	whole := r.fqdn(p)
	switch {
	case whole == "":
		return hostname(p), nil
	case len(whole) > maxFQDN:
		return "", fmt.Errorf("setHostnameAsFQDN: %q has more than the %d characters that the kernel takes; shorten hostname or subdomain", whole, maxFQDN)
	}
	return whole, nil
}

// maxHostname is the kernel's limit less one, as a kubelet has it; maxFQDN is the kernel's.
const (
	maxHostname = 63
	maxFQDN     = 64
)

// hostname is the name a pod's sandbox gets; empty on the node's network,
// where the node's own holds.
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
