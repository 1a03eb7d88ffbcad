//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/server/client"
)

// agent is a wardlet process with roots of its own.
type agent struct {
	name      string
	binary    string
	dir       string
	config    string
	manifests string
	endpoint  string
	command   *exec.Cmd
	log       *os.File
	ended     chan error
	client    *client.Client
	// env is what its processes find in their environment besides that of the test.
	env []string
	// cold is true for one that compiles every plugin itself.
	cold bool
}

// newAgent prepares an agent on the node's runtime; start runs it. When the
// test ends it is stopped if it runs, and its log is shown if the test failed.
func newAgent(t *testing.T, n node, name string) *agent {
	t.Helper()
	return newAgentAt(t, n.Endpoint(), name)
}

// newAgentAt is newAgent for a runtime that is no node's.
func newAgentAt(t *testing.T, endpoint, name string) *agent {
	t.Helper()
	binary, err := wardletBinary()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "wardlet-"+name+"-") //nolint:usetesting // the test's name would make the socket's path too long
	if err != nil {
		t.Fatal(err)
	}
	a := &agent{
		name: name, binary: binary, dir: dir, endpoint: endpoint,
		config: filepath.Join(dir, "agent.toml"), manifests: filepath.Join(dir, "manifests"),
		client: client.New(filepath.Join(dir, "run", "w.sock")),
		env:    []string{"GORACE=" + raceOptions},
	}
	if err := os.Mkdir(a.manifests, 0o700); err != nil {
		t.Fatal(err)
	}
	a.write(t, a.config, fmt.Sprintf(`
node_name = %q
log_level = "debug"
[paths]
state_root = %q
pod_root = %q
log_root = %q
socket = %q
cgroup_root = %q
[runtime]
endpoint = %q
[[source]]
name = "static"
kind = "file"
path = %q
period = "1s"
`, name, a.path("state"), a.path("root"), a.path("log"), a.path("run", "w.sock"), a.cgroup(), endpoint, a.manifests))
	t.Cleanup(func() {
		if a.command != nil {
			a.stop(t)
		}
		out, _ := os.ReadFile(a.path("agent.log"))
		if strings.Contains(string(out), "a pod that is shared was changed") {
			t.Error("the agent changed a pod that all of its parts share")
		}
		if strings.Contains(string(out), "WARNING: DATA RACE") {
			t.Error("the agent has a data race") // one that is killed cannot say so when it ends
		}
		if t.Failed() {
			t.Logf("log of agent %s:\n%s", name, out)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return a
}

func (a *agent) path(elem ...string) string {
	return filepath.Join(append([]string{a.dir}, elem...)...)
}

// cgroup is the agent's cgroup root.
func (a *agent) cgroup() string { return "/" + filepath.Base(a.dir) }

func (a *agent) write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// ownSession has a process share the processor with others as a service with a
// cgroup does: compilers have the lowest priority in their session, and would
// hardly run where they compete with all the tests beside.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true}
}

// start runs the agent and waits until it answers.
func (a *agent) start(t *testing.T) {
	t.Helper()
	log, err := os.OpenFile(a.path("agent.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	a.log = log
	a.command = exec.Command(a.binary, "run", "--config", a.config)
	a.command.Env, a.command.SysProcAttr = append(os.Environ(), a.env...), ownSession()
	a.command.Stdout, a.command.Stderr = log, log
	// Outside of the tests' session no ^C reaches it: it ends with them, whose
	// thread it goes by must stay.
	a.command.SysProcAttr.Pdeathsig = syscall.SIGKILL
	started := make(chan error)
	ended := make(chan error, 1)
	go func(command *exec.Cmd) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		if started <- err; err == nil {
			ended <- command.Wait()
		}
	}(a.command)
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	a.ended = ended
	eventually(t, "agent "+a.name+" answers", func(ctx context.Context) error {
		select {
		case err := <-a.ended:
			a.ended <- err
			t.Fatalf("agent %s ended by itself: %v", a.name, err)
		default:
		}
		var sources []api.SourceState
		return a.client.Get(ctx, "/v1/sources", &sources)
	})
}

// stop ends the agent as systemd does and checks that it says goodbye.
func (a *agent) stop(t *testing.T) {
	t.Helper()
	if err := a.end(syscall.SIGTERM); err != nil {
		t.Errorf("agent %s after SIGTERM: %v", a.name, err)
	}
}

// kill ends the agent at once.
func (a *agent) kill() { _ = a.end(syscall.SIGKILL) }

func (a *agent) end(signal syscall.Signal) error {
	defer func() { a.command = nil; a.log.Close() }()
	if err := a.command.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case err := <-a.ended:
		return err
	case <-time.After(30 * time.Second):
		return errors.Join(errors.New("it did not end within 30 s"), a.command.Process.Kill(), <-a.ended)
	}
}

// wardlet runs a subcommand against the agent.
func (a *agent) wardlet(args ...string) (string, error) {
	command := exec.Command(a.binary, append(args, "--config", a.config)...)
	command.Env, command.SysProcAttr = append(os.Environ(), a.env...), ownSession()
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return string(out), fmt.Errorf("wardlet %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}

// pods asks the agent for its pods, by name.
func (a *agent) pods(ctx context.Context) (map[string]v1.Pod, error) {
	var list v1.PodList
	if err := a.client.Get(ctx, "/v1/pods", &list); err != nil {
		return nil, err
	}
	pods := map[string]v1.Pod{}
	for _, p := range list.Items {
		pods[p.Name] = p
	}
	return pods, nil
}

// running waits until the named pods (without the node's name) run and are
// ready, and gives them.
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
	temp := filepath.Join(a.manifests, "."+file+".tmp")
	a.write(t, temp, content)
	if err := os.Rename(temp, filepath.Join(a.manifests, file)); err != nil {
		t.Fatal(err)
	}
}

// remove deletes manifests.
func (a *agent) remove(t *testing.T, files ...string) {
	t.Helper()
	for _, file := range files {
		if err := os.Remove(filepath.Join(a.manifests, file)); err != nil {
			t.Fatal(err)
		}
	}
}

// nothingLeft waits until nothing is left of any pod: in the runtime, in the
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
		var left []string
		for _, dir := range []string{a.path("root", "pods"), a.path("log", "pods"), a.path("log", "containers")} {
			entries, err := os.ReadDir(dir)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			for _, entry := range entries {
				left = append(left, filepath.Join(dir, entry.Name()))
			}
		}
		cgroups, err := cgroupsNamed(a.cgroup())
		if err != nil {
			return err
		}
		if left = append(left, cgroups...); len(left) > 0 {
			return fmt.Errorf("left: %s", strings.Join(left, " "))
		}
		return nil
	})
}

// settled waits until the agent has read its manifests as they are now.
func (a *agent) settled(t *testing.T) {
	t.Helper()
	asked := time.Now()
	eventually(t, "manifests are read", func(ctx context.Context) error {
		var sources []api.SourceState
		if err := a.client.Get(ctx, "/v1/sources", &sources); err != nil {
			return err
		}
		if len(sources) != 1 || !sources[0].LastRead.After(asked.Add(time.Second)) {
			return fmt.Errorf("sources are %+v", sources)
		}
		return nil
	})
}
