package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/wardlet/wardlet/test/harness"
)

// endPatience is how long an agent may take to exit after SIGTERM.
const endPatience = 20 * time.Second

// agent is a wardlet or a kubelet with directories and cgroups of its own.
type agent struct {
	// Agent has a Program only if it is a wardlet.
	*harness.Agent
	// side is the agent's name in series.
	side string
	manifests
	command func() *exec.Cmd
	// ready returns nil once the agent works.
	ready func(ctx context.Context) error
	// undo restores what the agent changes on the machine; it may be nil.
	undo func() error
	// traces are places that must be empty after the agent's last pod: directories whose entries
	// are pods, their logs, or links to them.
	traces []string
}

// newAgent makes the directories of an agent.
func newAgent(side, program string) (*agent, error) {
	made, err := harness.NewAgent("bench", program)
	if err != nil {
		return nil, err
	}
	a := &agent{Agent: made, side: side}
	if a.manifests, err = makeManifests(a.Dir); err != nil {
		return nil, errors.Join(err, os.RemoveAll(a.Dir))
	}
	return a, nil
}

// start runs the agent and waits until it works.
func (a *agent) start(ctx context.Context) (err error) {
	if a.Process, err = harness.StartProcess(a.LogFile(), a.command()); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("%s does not work after %s", a.side, patience))
	defer cancel()
	err = a.Process.Await(waiting, 50*time.Millisecond, a.ready)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return a.explain(err)
}

// explain adds the end of the agent's log to an error.
func (a *agent) explain(err error) error {
	if err == nil || a.Process == nil {
		return err
	}
	return fmt.Errorf("%s: %w; the end of its log:\n%s", a.side, err, strings.Join(a.LogTail(20), "\n"))
}

// stop stops the agent's process, if there is one.
func (a *agent) stop() error {
	if a.Process == nil {
		return nil
	}
	return a.Process.End(syscall.SIGTERM, endPatience)
}

// end removes everything that belongs to the agent; its pods must be gone.
func (a *agent) end(ctx context.Context) error {
	var failed []error
	if a.undo != nil {
		failed = append(failed, a.undo())
	}
	return errors.Join(append(failed, harness.RemoveCgroups(ctx, a.Cgroup()), os.RemoveAll(a.Dir))...)
}
