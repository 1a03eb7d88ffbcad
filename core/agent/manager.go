package agent

import (
	"errors"
	"fmt"

	"github.com/wardlet/wardlet/core/systemd"
)

// wireNotify finds out who is to be told how the agent is. An environment that makes
// no sense is no reason not to start.
func (a *Agent) wireNotify(lookup func(string) (string, bool)) {
	if lookup == nil {
		return
	}
	notify, err := systemd.New(lookup)
	if err != nil {
		a.log.Warn("systemd is not told how the agent is", "err", err)
	}
	a.notify = notify
}

// watchdog is the agent's.
func (a *Agent) watchdog() *systemd.Watchdog {
	return &systemd.Watchdog{
		Notify: a.notify, Stuck: a.loop.Healthy, Health: a.runtimeChecks(), Starting: a.starting, Status: a.statusLine, Log: a.log,
	}
}

// runtimeChecks say why the sync loop waits for the runtime.
func (a *Agent) runtimeChecks() []func() error {
	return []func() error{a.health.Healthy, a.pleg.Healthy}
}

// starting says what the agent still waits for before it does its work: the runtime,
// the first list of what runs, and that it is known which of that was admitted.
func (a *Agent) starting() error {
	for _, check := range a.runtimeChecks() {
		if err := check(); err != nil {
			return err
		}
	}
	if a.adoption.Unlisted() {
		return errTakingOver
	}
	return nil
}

var errTakingOver = errors.New("what runs is being taken over")

// statusLine is what people read while all is well.
func (a *Agent) statusLine() string {
	return fmt.Sprintf("Node %s: %d pods", a.node, len(a.mux.Pods()))
}
