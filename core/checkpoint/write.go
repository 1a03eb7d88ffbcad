package checkpoint

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/internal/faultlog"
)

const (
	// outcomeBatch is how long restart counts are gathered before they are
	// written, so that a pod whose containers crash costs one write.
	outcomeBatch = time.Second
	// outcomeRetry is when what could not be written is tried again.
	outcomeRetry = 10 * time.Second
	// outcomeSweep is how often outcomes of pods that no caller has asked for yet are
	// looked at, while there are any.
	outcomeSweep = 2 * time.Second
)

// reporter logs that the disk fails, or is well again: what cannot be written of one pod
// cannot be of many.
func (o *Outcomes) reporter() func(types.UID, error) {
	var (
		mu   sync.Mutex
		pace faultlog.Pace
	)
	return func(uid types.UID, err error) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			if pace.Due("", err.Error(), time.Now()) {
				o.log.Error("the status of a pod is not saved; a restart of the agent may lose it", "uid", uid, "retry", outcomeRetry, "err", err)
			}
		case pace.Over():
			o.log.Info("the statuses of pods are saved again")
		}
	}
}

// sweep drops what is kept of pods that went while no agent ran, and reports
// whether there are any left of which that is not known yet.
func (o *Outcomes) sweep() bool {
	unclaimed := map[types.UID]string{}
	o.mu.Lock()
	for uid, kept := range o.kept.Values {
		if !o.claimed[uid] {
			unclaimed[uid] = kept.Source
		}
	}
	o.mu.Unlock()
	for uid, source := range unclaimed {
		if !o.Removable(uid, source) {
			continue
		}
		delete(unclaimed, uid)
		o.mu.Lock()
		if !o.claimed[uid] {
			o.forget(uid)
		}
		o.mu.Unlock()
	}
	return len(unclaimed) > 0
}

// Run writes and drops until ctx ends, and then writes what is left.
func (o *Outcomes) Run(ctx context.Context) error {
	var writer sync.WaitGroup
	writer.Go(func() { _ = o.kept.Run(ctx) })
	defer writer.Wait()
	sweep := time.NewTicker(outcomeSweep)
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-o.urgent:
			o.writeAwaited()
		case <-sweep.C:
			if !o.sweep() {
				sweep.Stop()
			}
		}
	}
}
