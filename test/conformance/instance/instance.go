package instance

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Agent is the script that starts the node agent.
type Agent string

const (
	// Wardlet is build/wardlet.
	Wardlet Agent = "node.sh"
	// Kubelet is the kubelet that tools/setup.sh kubelet builds.
	Kubelet Agent = "node-kubelet.sh"
)

// Instance is a running cluster of one node.
type Instance struct {
	// Dir has all files of the instance. Env has the variables in its file env, by name.
	Dir string
	Env map[string]string
	// Extra is added to the environment of the node's script; each entry is NAME=VALUE.
	Extra []string

	root  string
	agent Agent
}

// Start starts a control plane and a container runtime, without a node. It makes dir, which Down
// removes.
func Start(ctx context.Context, dir string) (*Instance, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	i := &Instance{Dir: dir, root: root}
	out, err := i.script(ctx, "up.sh", dir)
	if err != nil {
		return nil, errors.Join(err, i.Down())
	}
	i.Env = parse(out)
	return i, nil
}

// moduleRoot returns the directory of go.mod above the working directory.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.mod above the working directory; run this within the repository")
		}
		dir = up
	}
	return "", err
}

func parse(out []byte) map[string]string {
	env := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		if name, value, ok := strings.Cut(lines.Text(), "="); ok {
			env[name] = strings.Trim(value, `"`)
		}
	}
	return env
}

// script runs a script of test/conformance, and returns what it prints. Its output goes to files,
// because programs that it started may go on and would keep pipes open.
func (i *Instance) script(ctx context.Context, name string, args ...string) ([]byte, error) {
	out, err := os.CreateTemp("", "instance")
	if err != nil {
		return nil, err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	said, err := os.CreateTemp("", "instance")
	if err != nil {
		return nil, err
	}
	defer os.Remove(said.Name())
	defer said.Close()
	cmd := exec.CommandContext(ctx, filepath.Join(i.root, "test", "conformance", name), args...)
	cmd.Stdout, cmd.Stderr = out, said
	cmd.Env = append(append(os.Environ(), "CONFORMANCE_DIR="+i.Dir), i.Extra...)
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(said.Name())
		return nil, fmt.Errorf("%s: %w: %s", name, err, text)
	}
	return os.ReadFile(out.Name())
}

// StartNode starts the node, and returns when the node is Ready.
func (i *Instance) StartNode(ctx context.Context, a Agent) error {
	i.agent = a
	_, err := i.script(ctx, string(a), i.Dir)
	return err
}

// StopNode stops the node agent, and waits for its exit. Its pods run on.
func (i *Instance) StopNode(ctx context.Context) error {
	_, err := i.script(ctx, "stop-node.sh", i.Dir)
	return err
}

// NodePID returns the process ID of the node agent.
func (i *Instance) NodePID() (int, error) { return i.pid("node") }

// pid returns the process ID that a script has recorded.
func (i *Instance) pid(name string) (int, error) {
	text, err := os.ReadFile(filepath.Join(i.Dir, name+".pid"))
	if err != nil {
		return 0, err
	}
	pid, _, _ := strings.Cut(string(text), " ")
	return strconv.Atoi(pid)
}

// KillNode kills the node agent with SIGKILL.
func (i *Instance) KillNode() error { return i.kill("node") }

// kill kills a process that a script has started. It is not a child of this process, because the
// script has exited, so Wait cannot be used.
func (i *Instance) kill(name string) error {
	pid, err := i.pid(name)
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return err
	}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if !runs(pid) {
			return os.Remove(filepath.Join(i.Dir, name+".pid"))
		}
	}
	return fmt.Errorf("process %d is still there 10 s after SIGKILL", pid)
}

// runs reports whether a process exists and is more than a zombie. While it has other threads, its
// files are open.
func runs(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	_, after, _ := strings.Cut(string(text), ") ")
	return err == nil && (len(threads) > 1 || !strings.HasPrefix(after, "Z"))
}

// RestartNode kills the node agent and starts it again.
func (i *Instance) RestartNode(ctx context.Context) error {
	if err := i.KillNode(); err != nil {
		return err
	}
	return i.StartNode(ctx, i.agent)
}

// Log returns the log of the node agent.
func (i *Instance) Log() string {
	text, _ := os.ReadFile(filepath.Join(i.Dir, "node.log"))
	return string(text)
}

// Command returns a kubectl command as an administrator.
func (i *Instance) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, i.Program("kubectl"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+i.Env["KUBECONFIG"])
	return cmd
}

// Program returns the path of a program that tools/setup.sh builds.
func (i *Instance) Program(name string) string { return filepath.Join(i.root, "build", "tools", name) }

// Kubectl runs kubectl as an administrator, and returns what it prints. The error contains its
// error output.
func (i *Instance) Kubectl(ctx context.Context, args ...string) (string, error) {
	return i.Apply(ctx, "", args...)
}

// Apply is Kubectl with standard input.
func (i *Instance) Apply(ctx context.Context, input string, args ...string) (string, error) {
	var said bytes.Buffer
	cmd := i.Command(ctx, args...)
	cmd.Stdin, cmd.Stderr = strings.NewReader(input), &said
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, said.String())
	}
	return string(out), nil
}

// Wardlet runs a command of build/wardlet with the node's configuration.
func (i *Instance) Wardlet(ctx context.Context, args ...string) (string, error) {
	args = append(args, "--config", filepath.Join(i.Dir, "wardlet", "agent.toml"))
	out, err := exec.CommandContext(ctx, filepath.Join(i.root, "build", "wardlet"), args...).Output()
	return string(out), err
}

// Ctr runs a command of containerd's own client in the namespace of pods, and returns what it prints.
func (i *Instance) Ctr(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, i.Program("ctr"), append([]string{"-a", i.Env["CRI_SOCK"], "-n", "k8s.io"}, args...)...).Output()
	return string(out), err
}

// Down stops the node, its pods and everything else that was started, and removes the directory.
func (i *Instance) Down() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	_, err := i.script(ctx, "down.sh", i.Dir)
	return err
}
