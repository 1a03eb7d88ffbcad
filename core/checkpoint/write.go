package checkpoint

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/internal/faultlog"
)

const (
	// outcomeBatch is the time for which restart counts are collected before they are written, so
	// that a pod whose containers crash causes one write.
	outcomeBatch = time.Second
	// outcomeRetry is the time after which a failed write is tried again.
	outcomeRetry = 10 * time.Second
	// outcomeSweep is the time between checks of outcomes that no worker has claimed yet, while
	// there are any.
	outcomeSweep = 2 * time.Second
)

// reporter returns a function that logs when the disk fails, and when it works again. It does not
// log every pod, because a disk error usually affects many pods.
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

// sweep drops the outcomes of pods that were removed while no agent ran, and reports whether there
// are others that no worker has claimed yet.
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

// Run writes and drops outcomes until ctx is done, and then writes the remaining ones.
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
