package admission

import (
	"os"
	"path/filepath"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
)

func TestSysctls(t *testing.T) {
	t.Parallel()
	modern, old := version.MustParseGeneric("6.1.0-13-amd64"), version.MustParseGeneric("4.5")
	for _, c := range []struct {
		name     string
		kernel   *version.Version
		unsafe   []string
		sysctl   string
		net, ipc bool
		refused  string // the message, empty if the pod is admitted
	}{
		{name: "a safe one", kernel: modern, sysctl: "net.ipv4.tcp_syncookies"},
		{name: "a safe one with slashes", kernel: modern, sysctl: "net/ipv4/tcp_syncookies"},
		{name: "a safe one of a newer kernel", kernel: modern, sysctl: "net.ipv4.tcp_rmem"},
		{name: "the kernel is too old for it", kernel: old, sysctl: "net.ipv4.tcp_rmem", refused: `forbidden sysctl: "net.ipv4.tcp_rmem" not allowlisted`},
		{name: "the kernel is just new enough", kernel: old, sysctl: "net.ipv4.tcp_keepalive_time"},
		{name: "nobody knows the kernel", sysctl: "net.ipv4.tcp_keepalive_time", refused: `forbidden sysctl: "net.ipv4.tcp_keepalive_time" not allowlisted`},
		{name: "nobody needs to know the kernel", sysctl: "kernel.shm_rmid_forced"},
		{name: "an unsafe one", kernel: modern, sysctl: "kernel.msgmax", refused: `forbidden sysctl: "kernel.msgmax" not allowlisted`},
		{name: "an unsafe one that is allowed", kernel: modern, unsafe: []string{"kernel.msgmax"}, sysctl: "kernel.msgmax"},
		{name: "all that begin alike are allowed", kernel: modern, unsafe: []string{"net.core.*"}, sysctl: "net.core.somaxconn"},
		{name: "a pattern with slashes", kernel: modern, unsafe: []string{"net/core/*"}, sysctl: "net.core.somaxconn"},
		{name: "one that begins otherwise", kernel: modern, unsafe: []string{"net.core.*"}, sysctl: "net.ipv4.ip_forward", refused: `forbidden sysctl: "net.ipv4.ip_forward" not allowlisted`},
		{name: "one that is of the whole node is never allowed", kernel: modern, unsafe: []string{"vm.*", "vm.swappiness"}, sysctl: "vm.swappiness", refused: `forbidden sysctl: "vm.swappiness" not allowlisted`},
		{name: "of the network, in the node's", kernel: modern, sysctl: "net.ipv4.tcp_syncookies", net: true, refused: `forbidden sysctl: "net.ipv4.tcp_syncookies" not allowed with host Net enabled`},
		{name: "of the network, beside the node's IPC", kernel: modern, sysctl: "net.ipv4.tcp_syncookies", ipc: true},
		{name: "of IPC, in the node's", kernel: modern, sysctl: "kernel.shm_rmid_forced", ipc: true, refused: `forbidden sysctl: "kernel.shm_rmid_forced" not allowed with host IPC enabled`},
		{name: "allowed by a pattern, in the node's", kernel: modern, unsafe: []string{"kernel.msg*"}, sysctl: "kernel.msgmax", ipc: true, refused: `forbidden sysctl: "kernel.msgmax" not allowed with host IPC enabled`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPod("1")
			p.Spec.HostNetwork, p.Spec.HostIPC = c.net, c.ipc
			p.Spec.SecurityContext = &v1.PodSecurityContext{Sysctls: []v1.Sysctl{{Name: "kernel/shm_rmid_forced", Value: "1"}, {Name: c.sysctl, Value: "1"}}}
			if c.ipc {
				p.Spec.SecurityContext.Sysctls = p.Spec.SecurityContext.Sysctls[1:]
			}
			want := Result{Admitted: true}
			if c.refused != "" {
				want = Result{Reason: "SysctlForbidden", Message: c.refused}
			}
			if got := Sysctls(c.kernel, c.unsafe).Admit(&Attributes{Pod: p}); got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
	for _, p := range []*v1.Pod{newPod("1"), {Spec: v1.PodSpec{SecurityContext: &v1.PodSecurityContext{}}}} {
		if got := Sysctls(nil, nil).Admit(&Attributes{Pod: p}); !got.Admitted {
			t.Errorf("a pod without sysctls: %+v", got)
		}
	}
}

func TestKernelVersion(t *testing.T) {
	t.Parallel()
	if v, err := KernelVersion(); err != nil || v.LessThan(version.MustParseGeneric("3.0")) {
		t.Errorf("this kernel is %v: %v", v, err)
	}
	file := filepath.Join(t.TempDir(), "osrelease")
	for text, want := range map[string]string{"6.1.0-13-amd64\n": "6.1.0", "5.10\n": "5.10", "what\n": ""} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := kernelVersion(file)
		if (err != nil) != (want == "") || err == nil && v.String() != want {
			t.Errorf("of %q: %v, %v", text, v, err)
		}
	}
	if _, err := kernelVersion(file + "x"); err == nil {
		t.Error("a kernel without a version has one")
	}
}
