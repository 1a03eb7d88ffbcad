package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// closeTimeout bounds taking the runtime away.
const closeTimeout = 90 * time.Second

// Close takes the node away with all it made, and says what could not be taken away. It ends the agent if that runs.
// What was taken away before is no error.
func (n *Node) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	var failed []error
	if n.agent != nil {
		failed = append(failed, n.agent.end(syscall.SIGTERM, patience))
	}
	if n.connection != nil {
		failed = append(failed, n.connection.Close())
		n.connection = nil
	}
	if n.runtime != nil {
		failed = append(failed, n.stopRuntime(ctx))
	}
	return errors.Join(append(failed, n.removeCgroups(ctx), n.removeDir())...)
}

// stopRuntime tries again where a first attempt failed, as it may when somebody ends a program that it runs.
func (n *Node) stopRuntime(ctx context.Context) error {
	if err := n.runtime.Stop(ctx); err != nil {
		if again := n.runtime.Stop(ctx); again != nil {
			return errors.Join(err, again)
		}
	}
	var left []error
	for _, what := range n.runtime.Leftovers() {
		left = append(left, fmt.Errorf("left of runtime %s: %s", n.runtime.Name(), what))
	}
	if len(left) == 0 {
		n.runtime = nil
	}
	return errors.Join(left...)
}

// removeDir removes the node's directory, unless something is mounted there, which is not the directory's to remove.
func (n *Node) removeDir() error {
	table, err := os.ReadFile(mountTable)
	if err != nil {
		return fmt.Errorf("read the mounts: %w", err)
	}
	if mounts := mountsBelow(string(table), n.Dir); len(mounts) > 0 {
		return fmt.Errorf("%s was not removed: mounted there are still %q", n.Dir, mounts)
	}
	return os.RemoveAll(n.Dir)
}
