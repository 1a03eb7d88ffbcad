package admission

import (
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-helpers/node/util/sysctl"
)

// reasonSysctl is the reason for refusing a pod with a sysctl that it may not set.
const reasonSysctl = "SysctlForbidden"

// safeSysctls do not affect other pods. The value is the kernel version since which the sysctl is
// namespaced, "" for every version.
var safeSysctls = map[string]string{
	"kernel.shm_rmid_forced":              "",
	"net.ipv4.ip_local_port_range":        "",
	"net.ipv4.tcp_syncookies":             "",
	"net.ipv4.ping_group_range":           "",
	"net.ipv4.ip_unprivileged_port_start": "",
	"net.ipv4.ip_local_reserved_ports":    "3.16",
	"net.ipv4.tcp_keepalive_time":         "4.5",
	"net.ipv4.tcp_keepalive_intvl":        "4.5",
	"net.ipv4.tcp_keepalive_probes":       "4.5",
	"net.ipv4.tcp_fin_timeout":            "4.6",
	"net.ipv4.tcp_rmem":                   "4.15",
	"net.ipv4.tcp_wmem":                   "4.15",
}

// sysctls are the sysctls that pods may set, each with its kernel namespace: full names, and
// prefixes of names.
type sysctls struct {
	names    map[string]sysctl.Namespace
	prefixes map[string]sysctl.Namespace
}

// Sysctls returns a handler that refuses pods with sysctls that are not safe, and pods whose
// sysctls would change the node itself. kernel is the kernel's version, nil if it is unknown: then
// only sysctls that are safe with every kernel are allowed. unsafe lists further allowed names, or
// prefixes with a * at the end; each must be in a namespace of the kernel.
func Sysctls(kernel *version.Version, unsafe []string) Handler {
	s := sysctls{map[string]sysctl.Namespace{}, map[string]sysctl.Namespace{}}
	for name, since := range safeSysctls {
		if since == "" || kernel != nil && kernel.AtLeast(version.MustParseGeneric(since)) {
			s.allow(name)
		}
	}
	for _, pattern := range unsafe {
		s.allow(pattern)
	}
	return s
}

func (s sysctls) allow(pattern string) {
	switch of, name, begins := sysctl.GetNamespace(pattern); {
	case of == sysctl.UnknownNamespace:
	case begins:
		s.prefixes[name] = of
	default:
		s.names[name] = of
	}
}

// Admit implements Handler.
func (s sysctls) Admit(a *Attributes) Result {
	spec := &a.Pod.Spec
	if spec.SecurityContext == nil {
		return Result{Admitted: true}
	}
	for i := range spec.SecurityContext.Sysctls {
		name := sysctl.NormalizeName(spec.SecurityContext.Sysctls[i].Name)
		of := s.namespace(name)
		switch {
		case of == sysctl.UnknownNamespace:
			return forbidden("%q not allowlisted", name)
		case of == sysctl.IPCNamespace && spec.HostIPC, of == sysctl.NetNamespace && spec.HostNetwork:
			return forbidden("%q not allowed with host %s enabled", name, of)
		}
	}
	return Result{Admitted: true}
}

func forbidden(format string, args ...any) Result {
	return Result{Reason: reasonSysctl, Message: "forbidden sysctl: " + fmt.Sprintf(format, args...)}
}

// namespace returns the namespace of a sysctl that pods may set, sysctl.UnknownNamespace for
// others.
func (s sysctls) namespace(name string) sysctl.Namespace {
	if of, ok := s.names[name]; ok {
		return of
	}
	for prefix, of := range s.prefixes {
		if strings.HasPrefix(name, prefix) {
			return of // all matching prefixes have the same namespace, because the names begin alike
		}
	}
	return sysctl.UnknownNamespace
}

// KernelVersion returns the version of the running kernel.
func KernelVersion() (*version.Version, error) { return kernelVersion("/proc/sys/kernel/osrelease") }

func kernelVersion(file string) (*version.Version, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the kernel's version: %w", err)
	}
	v, err := version.ParseGeneric(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("reading the kernel's version: %w", err)
	}
	return v, nil
}
