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
	// patience is how long an agent may take to end after SIGTERM, in which it finishes its calls to the runtime.
	patience = 15 * time.Second
	// closeTimeout bounds taking a node away.
	closeTimeout = 2 * time.Minute
)

// Node is a whole node of one's own: a runtime and an agent.
type Node struct {
	*Agent
	// Runtime is nil before StartRuntime and after Close.
	Runtime  *Runtime
	settings Settings
	// name is the runtime's.
	name string
	// policy is nil where the agent's policies are not the harness's.
	policy *policy
}

// Config says which node to make.
type Config struct {
	// Name tells what the node is for; it is part of the names of all it makes: at most 12 lower-case letters.
	Name string
	// Wardlet is the program.
	Wardlet string
	// Policies is the directory `make plugins` wrote. The node's one policy is then Policy, which allows the images that
	// match the patterns Allow. Empty: the policies are the caller's.
	Policies string
	Allow    []string
	// Settings are those of the agent; New and StartRuntime fill in Endpoint and Policies.
	Settings
}

// New returns a node of which nothing runs yet. When it fails, nothing is left.
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

// StartRuntime starts the runtime and writes the agent's configuration, which names it.
func (n *Node) StartRuntime(ctx context.Context) (err error) {
	if n.Runtime, err = StartRuntime(ctx, privateruntime.Options{Name: n.name}); err != nil {
		return err
	}
	n.settings.Endpoint = n.Runtime.Endpoint()
	return n.Configure(&n.settings)
}

// Allow writes the policy with another list of allowed images.
func (n *Node) Allow(patterns ...string) error { return n.policy.write(n.PolicyDir(), patterns) }

// Stop ends the agent with SIGTERM, as an operator does. Its pods run on. An agent that does not run is an error.
func (n *Node) Stop() error { return n.end(syscall.SIGTERM) }

// Kill ends the agent with SIGKILL. One that does not run is an error.
func (n *Node) Kill() error { return n.end(syscall.SIGKILL) }

func (n *Node) end(signal syscall.Signal) error {
	if err := n.Process.Gone(); err != nil {
		return err
	}
	return n.Process.End(signal, patience)
}

// Wardlet is that of the agent; one that has ended is ErrEnded.
func (n *Node) Wardlet(ctx context.Context, args ...string) (string, error) {
	if err := n.Process.Gone(); err != nil {
		return "", err
	}
	return n.Agent.Wardlet(ctx, args...)
}

// Close takes the node away with all it made, and says what could not be taken away. It ends the agent if that runs.
// What was taken away before is no error.
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

// closeRuntime tries again where a first attempt failed, as it may when a signal of the terminal ends a program that it
// runs.
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

// removeDir removes the node's directory, unless something is mounted there, which is not the directory's to remove.
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
