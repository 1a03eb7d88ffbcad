//go:build e2e

package e2e

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestARuntimeThatDiesIsWaitedForAndNothingIsLost(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "steady")
	a.start(t)
	a.manifest(t, "web.yaml", hostPod("web", "sleep"))
	before := container(a.running(t, "web")["web"])
	if err := n.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.logs(t, "pods are not synced until the runtime works", n.Endpoint())
	a.manifest(t, "late.yaml", hostPod("late", "sleep"))
	a.settled(t)
	pods, err := a.pods(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p := pods["web-steady"]; !ready(p) {
		t.Errorf("without a runtime the pod is %s, want it left as it was", p.Status.Phase)
	}
	if out, err := a.wardlet("check"); err == nil || !strings.Contains(out, "fail") {
		t.Errorf("check without a runtime: %v\n%s", err, out)
	}
	if err := n.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := a.running(t, "web", "late")["web"]
	if after := container(p); after != before {
		t.Errorf("container %s, then %s", before, after)
	}
	a.remove(t, "web.yaml", "late.yaml")
	a.nothingLeft(t, n)
}

func TestAnAgentStartsBeforeItsRuntime(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "early")
	if err := n.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.manifest(t, "web.yaml", hostPod("web", "sleep"))
	a.start(t)
	a.logs(t, n.Endpoint())
	if err := n.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.running(t, "web")
	a.remove(t, "web.yaml")
	a.nothingLeft(t, n)
}

func TestANewBuildOfTheAgentRestartsNothing(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "fresh")
	a.start(t)
	a.manifest(t, "web.yaml", hostPod("web", "sleep"))
	before := container(a.running(t, "web")["web"])
	a.stop(t)
	rebuilt := a.Path("wardlet")
	out, err := exec.Command("go", "build", "-o", rebuilt, "-ldflags=-X main.version=v9.9.9",
		"github.com/wardlet/wardlet/cmd/agent").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	a.Program = rebuilt
	a.start(t)
	a.says(t, "version", "v9.9.9")
	a.settled(t)
	p := a.running(t, "web")["web"]
	if after := container(p); after != before || p.Status.ContainerStatuses[0].RestartCount != 0 {
		t.Errorf("container %s, then %s", before, after)
	}
	a.remove(t, "web.yaml")
	a.nothingLeft(t, n)
}

// logs waits until one line of the agent's log has all these words.
func (a *agent) logs(t *testing.T, words ...string) {
	t.Helper()
	eventually(t, "log line", func(context.Context) error {
		log, err := os.ReadFile(a.Path("agent.log"))
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(log)) {
			if contains(line, words...) == nil {
				return nil
			}
		}
		return errors.New("no line has " + strings.Join(words, ", "))
	})
}
