package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// agent is a wardlet or a kubelet with directories and cgroups of its own.
type agent struct {
	// side is its name in series.
	side string
	dir  string
	// cgroup is the name of its root in every hierarchy.
	cgroup string
	manifests
	command func() *exec.Cmd
	// ready is nil once it works.
	ready func(ctx context.Context) error
	// undo takes back what it changes of the machine, may be nil.
	undo func() error
	// traces are where nothing is after its last pod: directories whose entries
	// are pods, their logs, or links to them.
	traces  []string
	process *process
}

// newAgent makes the directories of an agent.
func newAgent(side string) (*agent, error) {
	// Sockets need short paths.
	dir, err := os.MkdirTemp("", "wardlet-bench-")
	if err != nil {
		return nil, err
	}
	a := &agent{side: side, dir: dir, cgroup: filepath.Base(dir)}
	if a.manifests, err = makeManifests(dir); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return a, nil
}

func (a *agent) path(elem ...string) string {
	return filepath.Join(append([]string{a.dir}, elem...)...)
}

func (a *agent) write(name, text string) error {
	return os.WriteFile(a.path(name), []byte(text), 0o600)
}

// start runs the agent and waits until it works.
func (a *agent) start(ctx context.Context) (err error) {
	if a.process, err = startProcess(a.command(), a.path("agent.log")); err != nil {
		return err
	}
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		err := a.ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-a.process.running.Done():
			return a.explain(context.Cause(a.process.running))
		case <-timeout.C:
			return a.explain(fmt.Errorf("%s does not work after %s: %w", a.side, patience, err))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// explain adds the end of the agent's log to an error.
func (a *agent) explain(err error) error {
	if err == nil || a.process == nil {
		return err
	}
	return fmt.Errorf("%s: %w; the end of its log:\n%s", a.side, err, a.process.tail())
}

// end ends the agent and takes away what is its own; pods must be gone.
func (a *agent) end(ctx context.Context) error {
	var failed []error
	if a.undo != nil {
		failed = append(failed, a.undo())
	}
	return errors.Join(append(failed, removeCgroups(ctx, a.cgroup), os.RemoveAll(a.dir))...)
}
