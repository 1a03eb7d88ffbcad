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
	// Dir holds everything of the agent: agent.toml, manifests, policies, state, pods and logs. Its
	// base name is also the name of the agent's root in every cgroup hierarchy.
	Dir string
	// Program is the wardlet program. Env is added to the environment of this process for the agent
	// and its commands.
	Program string
	Env     []string
	// API is a client on the agent's socket.
	API *client.Client
	// Process is the process that Start started last, nil before the first Start.
	Process *Process
}

// NewAgent makes the directory of an agent, with an empty directory of manifests. The name is part
// of the directory's name.
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

// Path returns a path in the agent's directory.
func (a *Agent) Path(elem ...string) string {
	return filepath.Join(append([]string{a.Dir}, elem...)...)
}

// ConfigFile returns the path of the agent's configuration.
func (a *Agent) ConfigFile() string { return a.Path("agent.toml") }

// Manifest returns the path of a manifest, or without a name the path of the manifests' directory.
func (a *Agent) Manifest(file ...string) string {
	return filepath.Join(append([]string{a.Path("manifests")}, file...)...)
}

// PolicyDir returns the directory of the agent's policies. It must exist if Settings.Policies is
// set.
func (a *Agent) PolicyDir() string { return a.Path("policies") }

// Socket returns the path of the agent's socket.
func (a *Agent) Socket() string { return a.Path("run", "w.sock") }

// LogFile returns the path of the log, to which all of the agent's processes write.
func (a *Agent) LogFile() string { return a.Path("agent.log") }

// Cgroup returns the name of the agent's root in every hierarchy.
func (a *Agent) Cgroup() string { return filepath.Base(a.Dir) }

// Settings are the values of agent.toml other than the agent's own paths.
type Settings struct {
	// Node is the node's name: a pod web is known as web-NODE.
	Node string
	// Endpoint is the runtime's endpoint.
	Endpoint string
	// LogLevel is the log level, and Period how often the manifests are read again. If one is empty,
	// the agent's default applies.
	LogLevel, Period string
	// Manifests is the directory of manifests; empty for the agent's own.
	Manifests string
	// Policies: the policies in PolicyDir judge pods.
	Policies bool
}

// FullDisk is the part of agent.toml that keeps an agent from evicting pods because the disk of the
// machine that runs the tests is nearly full.
const FullDisk = `[eviction.hard]
"nodefs.available" = "0%"
"nodefs.inodesFree" = "0%"
"imagefs.available" = "0%"
"imagefs.inodesFree" = "0%"
`

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
	text.WriteString(FullDisk + "[runtime]\n")
	set("endpoint", s.Endpoint)
	text.WriteString("image_gc_high_threshold_percent = 100\n") // as for FullDisk: the images of tests are unused between them
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

// Start starts the agent without waiting until it answers.
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

// Command returns a wardlet command with the agent's configuration. The command has a session of
// its own for two reasons. Signals of the terminal reach only the caller, which ends the command by
// canceling ctx. And the command gets its share of the processor like a service with a cgroup:
// compilers have the lowest priority in their session, and would hardly run if they competed with
// everything else in the caller's session.
func (a *Agent) Command(ctx context.Context, args ...string) *exec.Cmd {
	end := len(args)
	if dash := slices.Index(args, "--"); dash >= 0 {
		end = dash // what follows belongs to another program
	}
	command := exec.CommandContext(ctx, a.Program, slices.Insert(slices.Clone(args), end, "--config", a.ConfigFile())...)
	command.Env = append(append(os.Environ(), QuickEnd), a.Env...)
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return command
}

// Wardlet runs the wardlet command with the agent's configuration and returns what it prints, even
// if the command fails.
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

// LogTail returns at most this many last lines of the agent's log. If the log cannot be read, the
// only line is the error.
func (a *Agent) LogTail(lines int) []string { return logTail(a.LogFile(), lines) }

// PodDirs returns the directories that are empty after the last pod: their entries are pods, their
// logs and links to the logs.
func (a *Agent) PodDirs() []string {
	return []string{a.Path("root", "pods"), a.Path("log", "pods"), a.Path("log", "containers")}
}

// Left returns the paths of what is left of pods: their directories and logs, and the agent's
// cgroups.
func (a *Agent) Left() ([]string, error) {
	left, err := Entries(a.PodDirs()...)
	if err != nil {
		return nil, err
	}
	cgroups, err := CgroupsNamed(a.Cgroup())
	return append(left, cgroups...), err
}

// Entries returns the paths of all entries of directories, which need not exist.
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
