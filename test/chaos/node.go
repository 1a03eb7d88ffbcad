package main

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/test/harness"
)

// nodeName is the node's name: a pod web is named web-chaos.
const nodeName = "chaos"

// farewell is how long an agent may take to exit after SIGTERM, while it finishes its calls to the
// runtime.
const farewell = 20 * time.Second

// node is a runtime and an agent with roots of its own. It is for one goroutine, except for CRI and
// API.
type node struct {
	*harness.Node
	policies *policies
}

// newNode starts a runtime and prepares an agent, which does not run yet. If it fails, nothing is
// left.
func newNode(ctx context.Context, wardlet, built string) (_ *node, err error) {
	made, err := harness.New(harness.Config{
		Name: "chaos", Wardlet: wardlet, Settings: harness.Settings{Node: nodeName, LogLevel: "debug", Period: "2s"},
	})
	if err != nil {
		return nil, err
	}
	n := &node{Node: made}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close(context.WithoutCancel(ctx)))
		}
	}()
	if n.policies, err = newPolicies(built, n.PolicyDir()); err != nil {
		return nil, err
	}
	return n, n.StartRuntime(ctx)
}

// kill kills the agent with SIGKILL.
func (n *node) kill() error { return n.Process.End(syscall.SIGKILL, farewell) }

// stop stops the agent as a service manager does. An exit status other than 0 is an error.
func (n *node) stop() error { return n.Process.Stop(farewell) }

// gone waits for an agent to exit after SIGTERM. The agent must exit in time and with status 0.
func gone(p *harness.Process) error {
	if err := p.Wait(farewell); err != nil {
		return err
	}
	return p.Clean()
}

// close removes everything. It is no error if something does not exist.
func (n *node) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	var failed []error
	if n.Process != nil {
		failed = append(failed, n.kill())
	}
	if n.Runtime != nil {
		failed = append(failed, n.Runtime.Thaw(), n.Runtime.Close(ctx))
	}
	return errors.Join(append(failed, n.unmount(), n.Close(ctx))...)
}

// unmount unmounts what a failed run left mounted in the directory.
func (n *node) unmount() error {
	mounts, err := harness.MountsBelow(n.Dir)
	for _, point := range slices.Backward(mounts) {
		err = errors.Join(err, unix.Unmount(point, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW))
	}
	return err
}
