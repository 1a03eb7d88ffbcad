//go:build e2e

package e2e

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestAnAgentThatRunsFollowsItsConfiguration(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "follow")
	first, err := os.ReadFile(a.ConfigFile())
	if err != nil {
		t.Fatal(err)
	}
	replace := func(content string) {
		t.Helper()
		a.write(t, a.ConfigFile()+".new", content)
		if err := os.Rename(a.ConfigFile()+".new", a.ConfigFile()); err != nil {
			t.Fatal(err)
		}
	}
	a.start(t)
	quiet := strings.Replace(string(first), `log_level = "debug"`, `log_level = "info"`, 1)
	replace(quiet)
	a.logs(t, "key=log_level was=debug is=info")

	replace(quiet + "[sink]\n")
	a.logs(t, "the configuration is refused", "sink: unknown key")
	if out, err := a.wardlet("check"); err == nil || !strings.Contains(out, "sink: unknown key") {
		t.Errorf("check says %q, %v", out, err)
	}

	const frequency = "[sync]\nfrequency = \"30s\"\n"
	replace(quiet + frequency)
	a.logs(t, "key=sync.frequency was=1m0s is=30s")

	const precedence = frequency + "[conflicts]\nrule = \"precedence\"\nprecedence = [\"static\"]\n"
	const waits = "key=conflicts.rule in_force=isolate in_file=precedence"
	replace(quiet + precedence)
	a.logs(t, waits)
	if err := a.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	a.logs(t, "the configuration was read again", "applied=0 need_restart=2")
	if out, err := a.wardlet("reload"); err != nil || !strings.HasPrefix(out, "conflicts.rule needs a restart") {
		t.Errorf("reload says %q, %v", out, err)
	}

	a.stop(t)
	a.start(t)
	replace(string(first) + precedence)
	a.logs(t, "key=log_level was=info is=debug")
	log, err := os.ReadFile(a.Path("agent.log"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(log), waits); n != 1 {
		t.Errorf("the log says %d times that conflicts.rule needs a restart, want once", n)
	}
}
