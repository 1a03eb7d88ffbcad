package runtime

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

const etcHosts = "/etc/hosts"

// The headers that a kubelet writes, so that users can see that the file is generated.
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

// managesHosts reports whether the container gets the agent's /etc/hosts. It does not if it mounts
// its own, or while a pod with its own network has no address.
func managesHosts(run *pod.ContainerRun) bool {
	own := slices.ContainsFunc(run.Mounts, func(m pod.Mount) bool { return path.Clean(m.ContainerPath) == etcHosts })
	return !own && (run.Pod.Spec.HostNetwork || len(run.SandboxIPs) > 0)
}

// writeHosts writes the pod's hosts file, only if it differs. It writes in place, because running
// containers have the file mounted.
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
			fmt.Fprintf(&out, "%s\t%s\n", ip, r.configs.HostNames(p))
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
