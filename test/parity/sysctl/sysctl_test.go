package sysctl

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/config"
)

// rounds is the number of random pods in each test.
const rounds = 20_000

// names are valid and invalid sysctls that pods may name.
var names = []string{
	"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range",
	"net.ipv4.ip_unprivileged_port_start", "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout",
	"net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem",
	"net/ipv4/tcp_rmem", "kernel/shm_rmid_forced", "net/ipv4/conf/eth0.100/rp_filter", "net.ipv4.conf.eth0/100.rp_filter",
	"net.core.somaxconn", "net.corex", "net", "net.", "kernel.msgmax", "kernel.msg", "kernel.msgmnb", "kernel.shmall", "kernel.shm", "kernel.sem",
	"kernel.pid_max", "fs.mqueue.msg_max", "fs.mqueue", "fs.file-max", "vm.swappiness", "abc", "", "Net.ipv4.tcp_rmem", "net.ipv4.tcp_rmem.x",
}

// patterns are the patterns that an operator may allow.
var patterns = []string{
	"net.core.*", "net.*", "net.ipv4.tcp_*", "net/core/*", "net.core.somaxconn", "net/core/somaxconn", "kernel.msg*", "kernel.shm*", "kernel.msgmax",
	"kernel.sem", "fs.mqueue.*", "fs.mqueue.msg_max", "net.ipv4.conf.eth0/100.*", "kernel.shm_rmid_forced",
}

// others are patterns that an operator may not allow, or not in this form.
var others = []string{
	"kernel.*", "*", "vm.*", "vm.swappiness", "kernel.pid_max", "fs.*", "net", "net*", "kernel.s*", "", "Net.core.*", "net..core", "net.core.*.x", "net.-a",
	"net.a-", "net.a_", "net._a", "kernel.msgm*", "net.core.**", "net.core. *", "net." + strings.Repeat("a", 249), "net." + strings.Repeat("a", 250), ".net", "net.core/",
}

var kernels = []string{"", "2.6.32", "3.10.0-1160.el7", "3.16", "4.4.302", "4.5", "4.6", "4.14.9", "4.15", "5.10.0-30-arm64", "6.1.0", "7.0"}

func some(r *rand.Rand, from []string, most int) []string {
	var out []string
	for range r.IntN(most + 1) {
		out = append(out, from[r.IntN(len(from))])
	}
	return out
}

// same compares two answers and counts the refusals.
func same(t *testing.T, theirs lifecycle.PodAdmitResult, ours admission.Result, about ...any) (refused bool) {
	t.Helper()
	if theirs.Admit != ours.Admitted || theirs.Reason != ours.Reason || theirs.Message != ours.Message {
		t.Errorf("%v:\na kubelet says %+v\nWardlet says   %+v", about, theirs, ours)
	}
	return !theirs.Admit
}

func TestSysctlsAreAllowedAsByAKubelet(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for range rounds {
		var kernel *version.Version
		if text := kernels[r.IntN(len(kernels))]; text != "" {
			kernel = version.MustParseGeneric(text)
		}
		unsafe := some(r, patterns, 3)
		theirs, err := sysctlsOf(kernel, unsafe)
		if err != nil {
			t.Fatal(err)
		}
		p := &v1.Pod{}
		p.Spec.HostNetwork, p.Spec.HostIPC = r.IntN(3) == 0, r.IntN(3) == 0
		if r.IntN(10) > 0 {
			p.Spec.SecurityContext = &v1.PodSecurityContext{}
			for _, name := range some(r, names, 3) {
				p.Spec.SecurityContext.Sysctls = append(p.Spec.SecurityContext.Sysctls, v1.Sysctl{Name: name, Value: "1"})
			}
		}
		ours := admission.Sysctls(kernel, unsafe).Admit(&admission.Attributes{Pod: p})
		if same(t, asks(theirs, p), ours, kernel, unsafe, p.Spec.HostNetwork, p.Spec.HostIPC, p.Spec.SecurityContext) {
			refused++
		}
	}
	if refused < rounds/10 || refused > rounds*9/10 {
		t.Errorf("%d of %d were refused, which compares little", refused, rounds)
	}
}

func TestTheKernelThatRunsIsReadAlike(t *testing.T) {
	t.Parallel()
	kernel, err := admission.KernelVersion()
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := sysctlsOf(kernel, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		p := &v1.Pod{Spec: v1.PodSpec{SecurityContext: &v1.PodSecurityContext{Sysctls: []v1.Sysctl{{Name: name}}}}}
		same(t, asks(theirs, p), admission.Sysctls(kernel, nil).Admit(&admission.Attributes{Pod: p}), name)
	}
}

// TestWhatAnOperatorMayAllow checks that agent.toml accepts what a kubelet accepts for
// --allowed-unsafe-sysctls.
func TestWhatAnOperatorMayAllow(t *testing.T) {
	t.Parallel()
	taken := 0
	for _, pattern := range append(append(append([]string{}, patterns...), others...), names...) {
		_, theirs := sysctlsOf(nil, []string{pattern})
		path := filepath.Join(t.TempDir(), "agent.toml")
		text := "[[source]]\nname = \"a\"\nkind = \"file\"\npath = \"/a\"\n[runtime]\nallowed_unsafe_sysctls = ['" + pattern + "']\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, ours := config.Load(path)
		if (theirs == nil) != (ours == nil) {
			t.Errorf("%q: a kubelet says %v, Wardlet says %v", pattern, theirs, ours)
		}
		if ours == nil {
			taken++
		}
	}
	if taken < len(patterns) || taken > len(patterns)+len(names) {
		t.Errorf("%d were taken", taken)
	}
}
