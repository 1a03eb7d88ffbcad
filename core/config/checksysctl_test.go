package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const runtimeTable = source + "[runtime]\n"

func TestSysctlsThatPodsCannotHaveAreRefused(t *testing.T) {
	t.Parallel()
	const want = "agent.toml:6: runtime.allowed_unsafe_sysctls: "
	const name = `want the name of a sysctl, or its beginning and a *, for example "net.core.somaxconn" or "kernel.msg*", found `
	const node = " belongs to the whole node: pods have only network sysctls (net.*) and some of IPC (kernel.shm*, kernel.msg*, kernel.sem, fs.mqueue.*) of their own\n"
	for _, c := range []struct{ name, value, fault string }{
		{"what is no name", "net..core", name + `"net..core"` + "\n"},
		{"a star within it", "net.*.core", name + `"net.*.core"` + "\n"},
		{"nothing", "", name + `""` + "\n"},
		{"too long a name", "net." + strings.Repeat("a", 250), name + `"net.` + strings.Repeat("a", 76) + "\"\n"},
		{"one of the node", "vm.swappiness", `"vm.swappiness"` + node},
		{"some of the node", "kernel.*", `"kernel.*"` + node},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			refuses(t, runtimeTable+"allowed_unsafe_sysctls = ['"+c.value+"']\n", want+c.fault)
		})
	}
}

func TestSysctlsThatPodsMaySet(t *testing.T) {
	t.Parallel()
	c, err := load(write(t, runtimeTable+"allowed_unsafe_sysctls = ['net.core.*', 'kernel/msgmax', 'kernel.shm*']\n"), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"net.core.*", "kernel/msgmax", "kernel.shm*"}, c.Runtime.AllowedUnsafeSysctls); d != "" {
		t.Errorf("sysctls (-want +got):\n%s", d)
	}
}
