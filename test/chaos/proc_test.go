package main

import (
	"os/exec"
	"slices"
	"testing"

	"github.com/wardlet/wardlet/test/harness"
)

func TestContainerOf(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ cgroups, want string }{
		"best effort":          {"3:cpuset:/wardlet-1/besteffort/podu-1/c1\n0::/\n", "c1"},
		"guaranteed":           {"3:cpuset:/wardlet-1/podu-1/c1\n", "c1"},
		"below another cgroup": {"3:cpuset:/outer/wardlet-1/podu-1/c1\n", "c1"},
		"below the container":  {"3:cpuset:/wardlet-1/podu-1/c1/inner\n", "c1"},
		"the pod itself":       {"3:cpuset:/wardlet-1/podu-1\n", ""},
		"another agent's":      {"3:cpuset:/wardlet-10/podu-1/c1\n3:cpu:/k8s.io/c1\n", ""},
		"none":                 {"0::/\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := containerOf(test.cgroups, "wardlet-1"); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestSetsUp(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		want bool
	}{
		"runc in a container":          {[]string{"runc", "init"}, true},
		"runc by its path":             {[]string{"/usr/sbin/runc", "init"}, true},
		"a process that has ended":     {[]string{""}, true},
		"one that is gone":             {nil, true},
		"what the container is to run": {[]string{"/testbox", "sleep"}, false},
		"a sandbox's own":              {[]string{"/pause"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := setsUp(test.args); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestAProcessIsKilledOnlyIfItStillIsWhoItWas(t *testing.T) {
	t.Parallel()
	command := exec.Command("cat")
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	pid := command.Process.Pid
	// A process that has only just started has no arguments yet. Once it answers, it has them.
	if _, err := in.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := killIf(pid, func() bool { return false }); err != nil {
		t.Error(err)
	}
	if !slices.Equal(harness.Arguments(pid), []string{"cat"}) {
		t.Errorf("it is %q", harness.Arguments(pid))
	}
	if err := killIf(pid, func() bool { return true }); err != nil {
		t.Error(err)
	}
	if err := command.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("it ended with %v", err)
	}
	if err := killIf(pid, func() bool { return true }); err != nil {
		t.Errorf("one that has ended: %v", err)
	}
}

func TestNothingIsInACgroupThatIsNotThere(t *testing.T) {
	t.Parallel()
	found, err := containersIn("wardlet-no-such")
	if err != nil || len(found) > 0 {
		t.Errorf("found %v, %v", found, err)
	}
}
