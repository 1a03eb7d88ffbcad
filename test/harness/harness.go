package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/wardlet/wardlet/test/privateruntime"
)

const (
	// patience is how long an agent may take to exit after SIGTERM, while it finishes its calls to
	// the runtime.
	patience = 15 * time.Second
	// closeTimeout bounds Node.Close.
	closeTimeout = 2 * time.Minute
)

// Node is a whole private node: a runtime and an agent.
type Node struct {
	*Agent
	// Runtime is nil before StartRuntime and after Close.
	Runtime  *Runtime
	settings Settings
	// name is the name of the runtime.
	name string
	// policy is nil if the caller writes the agent's policies.
	policy *policy
}

// Config describes the node to make.
type Config struct {
	// Name is part of the names of everything the node makes: at most 12 lower-case letters.
	Name string
	// Wardlet is the path of the wardlet program.
	Wardlet string
	// Policies is the directory that `make plugins` wrote. The node then has one policy, Policy, which
	// allows the images that match the patterns in Allow. If Policies is empty, the caller writes the
	// policies.
	Policies string
	Allow    []string
	// Settings are the agent's settings; New and StartRuntime fill in Endpoint and Policies.
	Settings
}

// New returns a node whose runtime and agent do not run yet. If it fails, nothing is left.
func New(cfg Config) (n *Node, err error) {
	wardlet, err := filepath.Abs(cfg.Wardlet)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(wardlet); err != nil {
		return nil, fmt.Errorf("the agent is not built: %w; run make build", err)
	}
	n = &Node{settings: cfg.Settings, name: cfg.Name + "-" + strconv.Itoa(os.Getpid())}
	if cfg.Policies != "" {
		if n.policy, err = readPolicy(cfg.Policies); err != nil {
			return nil, err
		}
	}
	n.settings.Policies = true
	if n.Agent, err = NewAgent(cfg.Name, wardlet); err != nil {
		return nil, err
	}
	err = os.Mkdir(n.PolicyDir(), 0o700)
	if err == nil && n.policy != nil {
		err = n.Allow(cfg.Allow...)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(n.Dir))
	}
	return n, nil
}

// StartRuntime starts the runtime and writes the agent's configuration with the runtime's endpoint.
func (n *Node) StartRuntime(ctx context.Context) (err error) {
	if n.Runtime, err = StartRuntime(ctx, privateruntime.Options{Name: n.name}); err != nil {
		return err
	}
	n.settings.Endpoint = n.Runtime.Endpoint()
	return n.Configure(&n.settings)
}

// Allow writes the policy with another list of allowed images.
func (n *Node) Allow(patterns ...string) error { return n.policy.write(n.PolicyDir(), patterns) }

// Stop stops the agent with SIGTERM, as an operator does. Its pods run on. If the agent does not
// run, Stop returns an error.
func (n *Node) Stop() error { return n.end(syscall.SIGTERM) }

// Kill kills the agent with SIGKILL. If the agent does not run, Kill returns an error.
func (n *Node) Kill() error { return n.end(syscall.SIGKILL) }

func (n *Node) end(signal syscall.Signal) error {
	if err := n.Process.Gone(); err != nil {
		return err
	}
	return n.Process.End(signal, patience)
}

// Wardlet is Agent.Wardlet, but returns ErrEnded if the agent has exited.
func (n *Node) Wardlet(ctx context.Context, args ...string) (string, error) {
	if err := n.Process.Gone(); err != nil {
		return "", err
	}
	return n.Agent.Wardlet(ctx, args...)
}

// Close removes the node with everything it made, and reports what could not be removed. It stops
// the agent if it runs. What was removed earlier is not an error.
func (n *Node) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	var failed []error
	if n.Process != nil {
		failed = append(failed, n.Process.End(syscall.SIGTERM, patience))
	}
	if n.Runtime != nil {
		failed = append(failed, n.closeRuntime(ctx))
	}
	return errors.Join(append(failed, RemoveCgroups(ctx, n.Cgroup()), n.removeDir())...)
}

// closeRuntime tries a second time if the first attempt fails. It may fail when a signal of the
// terminal ends a program that it runs.
func (n *Node) closeRuntime(ctx context.Context) error {
	if err := n.Runtime.Stop(ctx); err != nil {
		if again := n.Runtime.Stop(ctx); again != nil {
			return errors.Join(err, again)
		}
	}
	err := n.Runtime.Close(ctx)
	if err == nil {
		n.Runtime = nil
	}
	return err
}

// removeDir removes the node's directory, unless something is still mounted below it.
func (n *Node) removeDir() error {
	mounts, err := MountsBelow(n.Dir)
	if err != nil {
		return err
	}
	if len(mounts) > 0 {
		return fmt.Errorf("%s was not removed: mounted there are still %q", n.Dir, mounts)
	}
	return os.RemoveAll(n.Dir)
}
