package agent

import (
	"context"
	"time"
)

// foreignPoll is how often the runtime is asked until it has answered once.
const foreignPoll = 5 * time.Second

// watchForeign warns, once the runtime answers, of pods that a kubelet made.
// It returns when ctx ends.
func (a *Agent) watchForeign(ctx context.Context) {
	tick := time.NewTicker(foreignPoll)
	defer tick.Stop()
	for {
		kubelet, err := a.runtime.ForeignKubelet(ctx)
		if err == nil {
			if kubelet {
				a.log.Warn(KubeletWarning)
			}
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
