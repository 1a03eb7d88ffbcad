package agent

import (
	"context"
	"time"

	"github.com/wardlet/wardlet/core/runtime"
)

// foreignPoll is how often the runtime is asked until it has answered once.
const foreignPoll = 5 * time.Second

// watchForeign logs, once the runtime answers, what of it is in the agent's way:
// pods that a kubelet made, and a cgroup driver with which no pod starts. It
// returns when ctx ends.
func (n *Node) watchForeign(ctx context.Context) {
	tick := time.NewTicker(foreignPoll)
	defer tick.Stop()
	for {
		kubelet, err := n.runtime.ForeignKubelet(ctx)
		if err == nil {
			if kubelet {
				n.log.Warn(runtime.KubeletWarning) //nolint:sloglint // a constant of another package
			}
			n.logDriver(ctx)
			<-ctx.Done()
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// logDriver logs an error if the runtime's cgroup driver is not the agent's. A
// runtime that does not report its driver is not logged: its pods may start.
func (n *Node) logDriver(ctx context.Context) {
	driver, err := n.client.CgroupDriver(ctx)
	if err != nil {
		return
	}
	if mismatch := runtime.DriverMismatch(driver, n.cfg.Runtime.CgroupDriver); mismatch != nil {
		n.log.Error("no pod can start", "err", mismatch)
	}
}
