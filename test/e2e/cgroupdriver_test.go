//go:build e2e

package e2e

import (
	"context"
	"os"
	"strings"
	"testing"
)

// driverRemedy is the message for the operator if the runtime's cgroup driver is
// systemd.
const driverRemedy = "the runtime's cgroup driver is systemd, the agent's is cgroupfs, so no pod can start: " +
	"set SystemdCgroup = false in containerd's configuration and restart containerd"

// setDriver changes the cgroup driver in the runtime's configuration and
// restarts the runtime.
func setDriver(t *testing.T, n node, from, to string) {
	t.Helper()
	if err := n.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	file := "/run/wardlet-test/" + n.Name() + "/config.toml"
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	after := strings.Replace(string(before), "SystemdCgroup = "+from, "SystemdCgroup = "+to, 1)
	if after == string(before) {
		t.Fatalf("%s has no SystemdCgroup = %s", file, from)
	}
	if err := os.WriteFile(file, []byte(after), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := n.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestCgroupDriver_ofSystemdIsNamedWithItsRemedy(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	setDriver(t, n, "false", "true")
	a := newAgent(t, n, "driver")
	a.write(t, a.ConfigFile(), strings.Replace(a.read(t, "agent.toml"), "[runtime]\n", "[runtime]\ncgroup_driver = \"cgroupfs\"\n", 1))
	if out, err := a.wardlet("check"); err == nil || contains(out, "fail  runtime: "+driverRemedy) != nil {
		t.Errorf("check on a runtime with the systemd driver: %v\n%s", err, out)
	}
	a.start(t)
	a.logs(t, "level=ERROR", "no pod can start", driverRemedy)
	a.manifest(t, "web.yaml", hostPod("web", "sleep"))
	eventually(t, "an event names the remedy", func(context.Context) error {
		out, err := a.wardlet("get", "events")
		if err != nil {
			return err
		}
		return contains(out, "FailedCreatePodSandBox", driverRemedy)
	})

	setDriver(t, n, "true", "false")
	a.running(t, "web")
	if out, err := a.wardlet("check"); err != nil || strings.Contains(out, "cgroup driver") {
		t.Errorf("check after the remedy: %v\n%s", err, out)
	}
	a.remove(t, "web.yaml")
	a.nothingLeft(t, n)
}

func TestBoot_ofANormalNodeLogsNoWarning(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "boot")
	a.manifest(t, "web.yaml", hostPod("web", "sleep"))
	a.start(t)
	a.running(t, "web")
	log, err := os.ReadFile(a.Path("agent.log"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR") {
			t.Errorf("a normal boot logs %s", line)
		}
	}
	a.remove(t, "web.yaml")
	a.nothingLeft(t, n)
}
