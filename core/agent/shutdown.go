package agent

import (
	"context"
	"sync"
	"time"
)

// callsTimeout is how long calls to the runtime may go on after the agent was told
// to end.
const callsTimeout = 10 * time.Second

// stopper is what has calls to the runtime in flight that change something. Stop
// begins no more of them and waits for those there are, at most until ctx ends.
type stopper interface {
	Stop(ctx context.Context)
}

// finishCalls stops all, at once: together they have callsTimeout.
func finishCalls(ctx context.Context, all ...stopper) {
	ctx, cancel := context.WithTimeout(ctx, callsTimeout)
	defer cancel()
	var stopping sync.WaitGroup
	for _, s := range all {
		stopping.Go(func() { s.Stop(ctx) })
	}
	stopping.Wait()
}
