package daemonsets

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	// image is the stand-in for every image, nonroot the one for images that must have a user other
	// than root.
	image   = "registry.wardlet.test/standin:1"
	nonroot = "registry.wardlet.test/standin:nonroot"
	// variable is the environment variable with the settings of a stand-in.
	variable = "STANDIN"
	// tokenPath is where a pod finds the token of its service account.
	tokenPath = "/var/run/secrets/kubernetes.io/serviceaccount"
)

// settings are what a stand-in reads from its variable.
type settings struct {
	Container string   `json:"container"`
	Once      bool     `json:"once"`
	HostPID   bool     `json:"hostPID"`
	Listen    []string `json:"listen"`
	Mounts    []mount  `json:"mounts"`
}

type mount struct {
	Path  string `json:"path"`
	Deep  bool   `json:"deep"`
	Write bool   `json:"write"`
	Mount bool   `json:"mount"`
}

// MakeShared makes a directory for Rewrite. The directory is a mount of its own with shared
// propagation, like the root of a node. The caller must unmount it.
func MakeShared(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount %s onto itself: %w", dir, err)
	}
	if err := unix.Mount("", dir, "", unix.MS_SHARED|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("share the mount %s: %w", dir, err)
	}
	return nil
}

// Rewrite changes the manifests so that they neither need their images nor change the machine. It
// makes only these changes:
//
//   - a container has the image of a stand-in, which is never pulled, and the variable STANDIN;
//   - a volume of the machine becomes a directory or file below host, which is a shared mount.
//     Volumes of /proc, /sys, /lib/modules or /dev/kmsg stay if they exist and are only read;
//   - in the machine's network, a probe's port that is in use is replaced by another one;
//   - an object has no resource version, which kubectl refuses, and a workload has no field that
//     the API does not have.
func (s *Set) Rewrite(host string) error { return s.rewrite(host, true) }

// rewrite is Rewrite; with tokens, pods have the tokens of their service accounts.
func (s *Set) rewrite(host string, tokens bool) error {
	s.host = filepath.Join(host, s.Name)
	for _, other := range s.others {
		if meta, ok := other["metadata"].(map[string]any); ok {
			delete(meta, "resourceVersion")
		}
	}
	for _, w := range s.Workloads {
		template, namespace := w.template()
		spec := &template.Spec
		deep, err := s.volumes(spec)
		if err != nil {
			return err
		}
		token := tokens && s.token(spec, namespace)
		for i := range spec.InitContainers {
			c := &spec.InitContainers[i]
			once := c.RestartPolicy == nil || *c.RestartPolicy != v1.ContainerRestartPolicyAlways
			if err := standIn(spec, c, deep, once, token); err != nil {
				return err
			}
		}
		for i := range spec.Containers {
			if err := standIn(spec, &spec.Containers[i], deep, false, token); err != nil {
				return err
			}
		}
	}
	return nil
}

// token reports whether a pod has the token of its service account.
func (s *Set) token(spec *v1.PodSpec, namespace string) bool {
	if spec.AutomountServiceAccountToken != nil {
		return *spec.AutomountServiceAccountToken
	}
	for _, a := range s.Accounts {
		if a.Name == spec.ServiceAccountName && a.Namespace == namespace && a.AutomountServiceAccountToken != nil {
			return *a.AutomountServiceAccountToken
		}
	}
	return true
}

// volumes replaces the volumes of the machine by ones in the directory of the set. It returns the
// volumes of which all files may be read.
func (s *Set) volumes(spec *v1.PodSpec) (deep map[string]bool, err error) {
	deep = map[string]bool{}
	for i := range spec.Volumes {
		v := &spec.Volumes[i]
		if v.HostPath == nil {
			deep[v.Name] = true
			continue
		}
		if keeps(spec, v) {
			continue
		}
		deep[v.Name] = true
		if v.HostPath.Path, err = s.provide(v.HostPath); err != nil {
			return nil, err
		}
	}
	return deep, nil
}

// keeps reports whether a volume may stay unchanged because all containers that mount it only read
// it.
func keeps(spec *v1.PodSpec, v *v1.Volume) bool {
	path := filepath.Clean(v.HostPath.Path)
	if _, err := os.Stat(path); err != nil || !slices.Contains([]string{"/proc", "/sys", "/lib/modules", "/dev/kmsg"}, path) {
		return false
	}
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		for _, m := range c.VolumeMounts {
			if m.Name == v.Name && (!m.ReadOnly || m.MountPropagation != nil) {
				return false
			}
		}
	}
	return true
}

// provide returns the path that replaces a volume of the machine. It makes what must exist before
// the pod, but not what the node itself makes if it is missing.
func (s *Set) provide(v *v1.HostPathVolumeSource) (string, error) {
	path := filepath.Join(s.host, v.Path)
	kind := v1.HostPathUnset
	if v.Type != nil {
		kind = *v.Type
	}
	directory := path
	if kind == v1.HostPathFile || kind == v1.HostPathFileOrCreate || kind == v1.HostPathDirectoryOrCreate {
		directory = filepath.Dir(path)
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return "", err
	}
	switch kind {
	case v1.HostPathUnset, v1.HostPathDirectory:
		// Any user may write there, and there is a file to read.
		if err := os.Chmod(path, 0o777); err != nil {
			return "", err
		}
		return path, s.seed(filepath.Join(path, "seed"))
	case v1.HostPathFile:
		return path, s.seed(path)
	case v1.HostPathFileOrCreate, v1.HostPathDirectoryOrCreate:
		return path, nil
	}
	return "", fmt.Errorf("volume %s: no stand-in for a %s", v.Path, kind)
}

// seed writes a file whose digest a stand-in must report.
func (s *Set) seed(path string) error {
	s.seeds[path] = "what " + path + " says"
	return os.WriteFile(path, []byte(s.seeds[path]), 0o644)
}

// standIn turns a container into a stand-in.
func standIn(spec *v1.PodSpec, c *v1.Container, deep map[string]bool, once, token bool) error {
	c.Image, c.ImagePullPolicy = image, v1.PullNever
	if runsAsNonRoot(spec, c) && userOf(spec, c) == nil {
		c.Image = nonroot
	}
	said := settings{Container: c.Name, Once: once, HostPID: spec.HostPID}
	for _, m := range c.VolumeMounts {
		said.Mounts = append(said.Mounts, mount{
			Path:  filepath.Clean(m.MountPath),
			Deep:  deep[m.Name],
			Write: deep[m.Name],
			Mount: m.MountPropagation != nil && *m.MountPropagation == v1.MountPropagationBidirectional,
		})
	}
	if token {
		said.Mounts = append(said.Mounts, mount{Path: tokenPath, Deep: true, Write: true})
	}
	for _, p := range []*v1.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
		if p == nil {
			continue
		}
		address, err := listen(spec, c, p)
		if err != nil {
			return err
		}
		if address != "" && !slices.Contains(said.Listen, address) {
			said.Listen = append(said.Listen, address)
		}
	}
	text, err := json.Marshal(said)
	// The variable is the last one, after those of the manifest.
	c.Env = append(c.Env, v1.EnvVar{Name: variable, Value: string(text)})
	return err
}

// listen returns the address that a probe connects to, empty for a probe that runs a program.
func listen(spec *v1.PodSpec, c *v1.Container, p *v1.Probe) (string, error) {
	var host string
	var port *intstr.IntOrString
	switch {
	case p.HTTPGet != nil:
		host, port = p.HTTPGet.Host, &p.HTTPGet.Port
	case p.TCPSocket != nil:
		host, port = p.TCPSocket.Host, &p.TCPSocket.Port
	case p.Exec != nil:
		return "", nil
	default:
		return "", fmt.Errorf("container %s: no stand-in for a probe by gRPC", c.Name)
	}
	number := port.IntVal
	for i := range c.Ports {
		if port.Type == intstr.String && c.Ports[i].Name == port.StrVal {
			number = c.Ports[i].ContainerPort
		}
	}
	if !spec.HostNetwork {
		return net.JoinHostPort(host, strconv.Itoa(int(number))), nil
	}
	// The port may be in use in the machine's network.
	listener, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(int(number))))
	if err != nil {
		if listener, err = net.Listen("tcp", net.JoinHostPort(host, "0")); err != nil {
			return "", err
		}
		free := int32(listener.Addr().(*net.TCPAddr).Port)
		for i := range c.Ports {
			if c.Ports[i].ContainerPort == number {
				c.Ports[i].ContainerPort, c.Ports[i].HostPort = free, free
			}
		}
		if port.Type == intstr.Int {
			port.IntVal = free
		}
		number = free
	}
	return net.JoinHostPort(host, strconv.Itoa(int(number))), listener.Close()
}

func runsAsNonRoot(spec *v1.PodSpec, c *v1.Container) bool {
	if c.SecurityContext != nil && c.SecurityContext.RunAsNonRoot != nil {
		return *c.SecurityContext.RunAsNonRoot
	}
	return spec.SecurityContext != nil && spec.SecurityContext.RunAsNonRoot != nil && *spec.SecurityContext.RunAsNonRoot
}

func userOf(spec *v1.PodSpec, c *v1.Container) *int64 {
	if c.SecurityContext != nil && c.SecurityContext.RunAsUser != nil {
		return c.SecurityContext.RunAsUser
	}
	if spec.SecurityContext != nil {
		return spec.SecurityContext.RunAsUser
	}
	return nil
}
