package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
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
	content, err := r.hosts(run.Pod, run.SandboxIPs)
	if err != nil {
		return err
	}
	if err := keepInPlace(r.config.Layout.HostsFile(run.Pod.UID), content); err != nil {
		return fmt.Errorf("hosts file: %w", err)
	}
	return nil
}

// keepInPlace has a file hold content, and writes it only if it does not. Containers
// may write to the file, so no more of it is read than content is long.
func keepInPlace(file string, content []byte) error {
	f, info, err := openRegular(file, os.O_RDWR)
	if errors.Is(err, errIrregular) {
		return fmt.Errorf("%w; remove it", err)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return makeFile(file, content)
	}
	if err != nil {
		return err
	}
	if old := make([]byte, len(content)); info.Size() == int64(len(content)) {
		if _, err := io.ReadFull(f, old); err == nil && bytes.Equal(old, content) {
			return f.Close()
		}
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteAt(content, 0)
	}
	return errors.Join(err, f.Close())
}

// makeFile writes a new file, which the pod's users must read.
func makeFile(file string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// hosts is the content of a pod's hosts file.
func (r *Runtime) hosts(p *v1.Pod, ips []string) ([]byte, error) {
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
			fmt.Fprintf(&out, "%s\t%s\n", ip, hostname(p))
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
