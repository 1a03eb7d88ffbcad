package agent

import (
	"errors"
	"fmt"

	"github.com/wardlet/wardlet/core/systemd"
)

// wireNotify finds out which service manager to notify of the health of the agent. An environment that makes
// no sense is no reason not to start.
func (n *Node) wireNotify(lookup func(string) (string, bool)) {
	if lookup == nil {
		return
	}
	notify, err := systemd.New(lookup)
	if err != nil {
		n.log.Warn("systemd is not told how the agent is", "err", err)
	}
	n.notify = notify
}

// watchdog is the agent's.
func (n *Node) watchdog() *systemd.Watchdog {
	return &systemd.Watchdog{
		Notify: n.notify, Stuck: n.loop.Healthy, Health: n.runtimeChecks(), Starting: n.starting, Status: n.statusLine, Log: n.log,
	}
}

// runtimeChecks say why the sync loop waits for the runtime.
func (n *Node) runtimeChecks() []func() error {
	return []func() error{n.health.Healthy, n.pleg.Healthy}
}

// starting says what the agent still waits for before it does its work: the runtime,
// the first list of what runs, and that it is known which of that was admitted.
func (n *Node) starting() error {
	for _, check := range n.runtimeChecks() {
		if err := check(); err != nil {
			return err
		}
	}
	if n.adoption.Unlisted() {
		return errTakingOver
	}
	return nil
}

var errTakingOver = errors.New("what runs is being taken over")

// statusLine is what people read while all is well.
func (n *Node) statusLine() string {
	return fmt.Sprintf("Node %s: %d pods", n.node, len(n.mux.Pods()))
}
