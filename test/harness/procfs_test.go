package harness

import (
	"os"
	"slices"
	"testing"
)

func TestKilobytes(t *testing.T) {
	t.Parallel()
	const status = "Name:\tagent\nVmHWM:\t   40000 kB\nVmRSS:\t   38000 kB\nVmSwap: many kB\n"
	if got, err := Kilobytes(status, "VmRSS"); err != nil || got != 38000*1024 {
		t.Errorf("got %d, %v", got, err)
	}
	for _, name := range []string{"RSS", "Pss", "VmSwap", "Name"} {
		if got, err := Kilobytes(status, name); err == nil {
			t.Errorf("%s gives %d", name, got)
		}
	}
}

func TestSandboxOfShim(t *testing.T) {
	t.Parallel()
	const shim, socket = "/x/containerd-shim-runc-v2", "/run/a/containerd.sock"
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"a shim":                   {[]string{shim, "-namespace", "k8s.io", "-id", "s1", "-address", socket}, "s1"},
		"of another containerd":    {[]string{shim, "-id", "s1", "-address", "/run/b/containerd.sock"}, ""},
		"another program":          {[]string{"/bin/cat", "-id", "s1", "-address", socket}, ""},
		"without a sandbox":        {[]string{shim, "-address", socket, "-id"}, ""},
		"a process without a name": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := SandboxOfShim(test.args, socket); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestShimsOf_aSocketThatIsNotThereAreNone(t *testing.T) {
	t.Parallel()
	if shims, err := ShimsOf("/run/no-such.sock"); err != nil || len(shims) > 0 {
		t.Errorf("found %v, %v", shims, err)
	}
}

func TestProcesses_includeThisOneWithItsArguments(t *testing.T) {
	t.Parallel()
	if all, err := Processes(); err != nil || !slices.Contains(all, os.Getpid()) {
		t.Errorf("the processes are %v, %v", all, err)
	}
	if args := Arguments(os.Getpid()); !slices.Equal(args, os.Args) {
		t.Errorf("the arguments are %q, want %q", args, os.Args)
	}
}
