package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/wardlet/wardlet/core/server/client"
)

// Agent is an agent with roots of its own.
type Agent struct {
	// Dir holds all of the agent: agent.toml, manifests, policies, state, pods and logs. Its name is that of the agent's
	// root in every cgroup hierarchy.
	Dir string
	// Program is the wardlet program, Env what it and its commands find in their environment besides that of this process.
	Program string
	Env     []string
	// API asks the agent through its socket.
	API *client.Client
	// Process is the process that Start started last, nil before.
	Process *Process
}

// NewAgent makes the directory of an agent, with an empty directory of manifests. The name is part of the directory's.
func NewAgent(name, program string) (*Agent, error) {
	// Sockets need short paths.
	dir, err := os.MkdirTemp("", "wardlet-"+name+"-")
	if err != nil {
		return nil, err
	}
	a := &Agent{Dir: dir, Program: program}
	a.API = client.New(a.Socket())
	if err := os.Mkdir(a.Manifest(), 0o700); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return a, nil
}

// Path is the path of what lies in the agent's directory.
func (a *Agent) Path(elem ...string) string {
	return filepath.Join(append([]string{a.Dir}, elem...)...)
}

// ConfigFile is the path of the agent's configuration.
func (a *Agent) ConfigFile() string { return a.Path("agent.toml") }

// Manifest is the path of a manifest; without a name that of their directory.
func (a *Agent) Manifest(file ...string) string {
	return filepath.Join(append([]string{a.Path("manifests")}, file...)...)
}

// PolicyDir is the directory of the agent's policies, which must exist where Settings.Policies is set.
func (a *Agent) PolicyDir() string { return a.Path("policies") }

// Socket is the path of the agent's socket.
func (a *Agent) Socket() string { return a.Path("run", "w.sock") }

// LogFile is the path of the log of all the agent's processes.
func (a *Agent) LogFile() string { return a.Path("agent.log") }

// Cgroup is the name of the agent's root in every hierarchy.
func (a *Agent) Cgroup() string { return filepath.Base(a.Dir) }

// Settings are what agent.toml says besides the agent's own places.
type Settings struct {
	// Node is the node's name: a pod web is known as web-NODE.
	Node string
	// Endpoint is the runtime's.
	Endpoint string
	// LogLevel, and Period, in which the manifests are read again, are the agent's defaults where they are empty.
	LogLevel, Period string
	// Manifests is the directory of manifests; empty for the agent's own.
	Manifests string
	// Policies is true where pods are judged by the policies in PolicyDir.
	Policies bool
}

// Configure writes agent.toml: the agent's roots, the runtime and one directory of manifests.
func (a *Agent) Configure(s *Settings) error {
	var text strings.Builder
	set := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&text, "%s = %q\n", key, value)
		}
	}
	set("node_name", s.Node)
	set("log_level", s.LogLevel)
	text.WriteString("[paths]\n")
	set("state_root", a.Path("state"))
	set("pod_root", a.Path("root"))
	set("log_root", a.Path("log"))
	set("socket", a.Socket())
	set("cgroup_root", "/"+a.Cgroup())
	text.WriteString("[runtime]\n")
	set("endpoint", s.Endpoint)
	text.WriteString("[[source]]\nname = \"static\"\nkind = \"file\"\n")
	set("path", cmp.Or(s.Manifests, a.Manifest()))
	set("period", s.Period)
	if s.Policies {
		text.WriteString("[policy]\n")
		set("dir", a.PolicyDir())
	}
	if err := os.WriteFile(a.ConfigFile(), []byte(text.String()), 0o600); err != nil {
		return fmt.Errorf("write the agent's configuration: %w", err)
	}
	return nil
}

// Start starts the agent and does not wait until it answers.
func (a *Agent) Start() error {
	if a.Process != nil && a.Process.Gone() == nil {
		return errors.New("the agent runs already")
	}
	started, err := StartProcess(a.LogFile(), a.Command(context.Background(), "run"))
	if err != nil {
		return err
	}
	a.Process = started
	return nil
}

// Command is a wardlet command on the agent's configuration. It has a session of its own: no signal of the terminal
// reaches it, as it is for the caller, who ends it by ctx; and it shares the processor with others as a service with a
// cgroup does. Compilers have the lowest priority in their session, and would hardly run where they compete with all that
// runs beside.
func (a *Agent) Command(ctx context.Context, args ...string) *exec.Cmd {
	end := len(args)
	if dash := slices.Index(args, "--"); dash >= 0 {
		end = dash // the rest is a program's
	}
	command := exec.CommandContext(ctx, a.Program, slices.Insert(slices.Clone(args), end, "--config", a.ConfigFile())...)
	command.Env = append(append(os.Environ(), QuickEnd), a.Env...)
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return command
}

// Wardlet runs the wardlet command on the agent's configuration and returns what it prints, also where it fails.
func (a *Agent) Wardlet(ctx context.Context, args ...string) (string, error) {
	command := a.Command(ctx, args...)
	var wrong strings.Builder
	command.Stderr = &wrong
	out, err := command.Output()
	if err != nil {
		return string(out), fmt.Errorf("wardlet %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(wrong.String()))
	}
	return string(out), nil
}

// LogTail returns the last lines of the agent's log, at most so many. If the log cannot be read, the line is the error.
func (a *Agent) LogTail(lines int) []string { return logTail(a.LogFile(), lines) }

// PodDirs are the directories in which nothing is after the last pod: their entries are pods, their logs and links to them.
func (a *Agent) PodDirs() []string {
	return []string{a.Path("root", "pods"), a.Path("log", "pods"), a.Path("log", "containers")}
}

// Left are the paths of what is left of pods: their directories and logs, and the agent's cgroups.
func (a *Agent) Left() ([]string, error) {
	left, err := Entries(a.PodDirs()...)
	if err != nil {
		return nil, err
	}
	cgroups, err := CgroupsNamed(a.Cgroup())
	return append(left, cgroups...), err
}

// Entries are the paths of what is in directories, which need not exist.
func Entries(dirs ...string) ([]string, error) {
	var found []string
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, entry := range entries {
			found = append(found, filepath.Join(dir, entry.Name()))
		}
	}
	return found, nil
}
