//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/test/harness"
)

// agent is a wardlet process with roots of its own.
type agent struct {
	*harness.Agent
	name string
	// cold: the agent compiles every plugin itself.
	cold bool
}

// farewell is how long an agent may take to terminate.
const farewell = 30 * time.Second

// newAgent prepares an agent on the node's runtime; start starts it. When the
// test ends, a running agent is stopped, and its log is shown if the test failed.
func newAgent(t *testing.T, n node, name string) *agent {
	t.Helper()
	return newAgentAt(t, n.Endpoint(), name)
}

// newAgentAt is newAgent for a runtime that belongs to no node.
func newAgentAt(t *testing.T, endpoint, name string) *agent {
	t.Helper()
	binary, err := wardletBinary()
	if err != nil {
		t.Fatal(err)
	}
	made, err := harness.NewAgent(name, binary)
	if err != nil {
		t.Fatal(err)
	}
	a := &agent{Agent: made, name: name}
	if err := a.Configure(&harness.Settings{Node: name, Endpoint: endpoint, LogLevel: "debug", Period: "1s"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if a.Process != nil {
			a.stop(t)
		}
		out, _ := os.ReadFile(a.LogFile())
		if strings.Contains(string(out), "a pod that is shared was changed") {
			t.Error("the agent changed a pod that all of its parts share")
		}
		if strings.Contains(string(out), "WARNING: DATA RACE") {
			t.Error("the agent has a data race") // an agent that was killed does not report it in its exit status
		}
		if t.Failed() {
			t.Logf("log of agent %s:\n%s", name, out)
		}
		if err := os.RemoveAll(a.Dir); err != nil {
			t.Error(err)
		}
	})
	return a
}

func (a *agent) write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// start runs the agent and waits until it answers.
func (a *agent) start(t *testing.T) {
	t.Helper()
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err := a.Process.Await(ctx, 5*poll, func(ctx context.Context) error {
		var sources []api.SourceState
		return a.API.Get(ctx, "/v1/sources", &sources)
	})
	if err != nil {
		t.Fatalf("agent %s does not answer: %v", a.name, err)
	}
}

// stop stops the agent as systemd does and checks its exit status.
func (a *agent) stop(t *testing.T) {
	t.Helper()
	defer func() { a.Process = nil }()
	if err := a.Process.Stop(farewell); err != nil {
		t.Errorf("agent %s after SIGTERM: %v", a.name, err)
	}
}

// kill kills the agent with SIGKILL.
func (a *agent) kill() {
	_ = a.Process.End(syscall.SIGKILL, farewell)
	a.Process = nil
}

// wardlet runs a subcommand against the agent.
func (a *agent) wardlet(args ...string) (string, error) {
	return a.Wardlet(context.Background(), args...)
}

// pods asks the agent for its pods, by name.
func (a *agent) pods(ctx context.Context) (map[string]v1.Pod, error) {
	var list v1.PodList
	if err := a.API.Get(ctx, "/v1/pods", &list); err != nil {
		return nil, err
	}
	pods := map[string]v1.Pod{}
	for _, p := range list.Items {
		pods[p.Name] = p
	}
	return pods, nil
}

// running waits until the named pods (without the node's name) run and are
// ready, and returns them.
func (a *agent) running(t *testing.T, names ...string) map[string]v1.Pod {
	t.Helper()
	var pods map[string]v1.Pod
	eventually(t, "pods run: "+strings.Join(names, " "), func(ctx context.Context) error {
		all, err := a.pods(ctx)
		if err != nil {
			return err
		}
		pods = map[string]v1.Pod{}
		for _, name := range names {
			p, ok := all[name+"-"+a.name]
			if !ok {
				return fmt.Errorf("no pod %s among %d", name, len(all))
			}
			if !ready(p) {
				return fmt.Errorf("pod %s is %s: %+v", name, p.Status.Phase, p.Status.ContainerStatuses)
			}
			pods[name] = p
		}
		return nil
	})
	return pods
}

func ready(p v1.Pod) bool {
	return p.Status.Phase == v1.PodRunning && slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool {
		return c.Type == v1.PodReady && c.Status == v1.ConditionTrue
	})
}

// manifest writes a manifest into the agent's directory by rename.
func (a *agent) manifest(t *testing.T, file, content string) {
	t.Helper()
	if err := harness.Replace(a.Manifest(file), []byte(content)); err != nil {
		t.Fatal(err)
	}
}

// remove deletes manifests.
func (a *agent) remove(t *testing.T, files ...string) {
	t.Helper()
	for _, file := range files {
		if err := os.Remove(a.Manifest(file)); err != nil {
			t.Fatal(err)
		}
	}
}

// nothingLeft waits until nothing is left of any pod in the runtime, in the
// cgroup hierarchies and in the agent's directories.
func (a *agent) nothingLeft(t *testing.T, n node) {
	t.Helper()
	eventually(t, "nothing of agent "+a.name+" is left", func(ctx context.Context) error {
		pods, err := a.pods(ctx)
		if err != nil {
			return err
		}
		if len(pods) > 0 {
			return fmt.Errorf("%d pods are still known", len(pods))
		}
		if left, err := n.marked(ctx, a.name); err != nil || left > 0 {
			return fmt.Errorf("%d sandboxes and containers are left: %w", left, err)
		}
		left, err := a.Left()
		if err != nil {
			return err
		}
		if len(left) > 0 {
			return fmt.Errorf("left: %s", strings.Join(left, " "))
		}
		return nil
	})
}

// settled waits until the agent has read the current manifests.
func (a *agent) settled(t *testing.T) {
	t.Helper()
	asked := time.Now()
	eventually(t, "manifests are read", func(ctx context.Context) error {
		var sources []api.SourceState
		if err := a.API.Get(ctx, "/v1/sources", &sources); err != nil {
			return err
		}
		if len(sources) != 1 || !sources[0].LastRead.After(asked.Add(time.Second)) {
			return fmt.Errorf("sources are %+v", sources)
		}
		return nil
	})
}
