package agent

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// outcomeBatch is how long restart counts are gathered before they are
	// written, so that a pod whose containers crash costs one write.
	outcomeBatch = time.Second
	// outcomeRetry is when what could not be written is tried again.
	outcomeRetry = 10 * time.Second
	// outcomeSweep is how often outcomes of pods that nobody has asked for yet
	// are looked at, while there are any.
	outcomeSweep = 2 * time.Second
)

// write brings the disk to what is to be on it, and reports whether it did.
func (o *outcomes) write(uid types.UID, e *outcomeEntry) bool {
	e.writing.Lock()
	defer e.writing.Unlock()
	o.mu.Lock()
	kept, dirty := e.kept, e.dirty
	e.dirty = false
	o.mu.Unlock()
	if !dirty {
		return true
	}
	var err error
	if kept == nil {
		err = o.disk.Delete(uid)
	} else {
		err = o.disk.Put(kept)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		e.dirty = true
		if o.unwritten.Due("", err.Error(), time.Now()) {
			o.log.Error("how a pod fares was not written; a restart of the agent may not know of it", "uid", uid, "retry", outcomeRetry, "err", err)
		}
		return false
	}
	if o.unwritten.Over() {
		o.log.Info("how pods fare is written again")
	}
	if e.kept == nil && !e.dirty && o.entries[uid] == e {
		delete(o.entries, uid)
	}
	return true
}

// flush writes all that is to be written, and reports whether it could.
func (o *outcomes) flush() bool {
	dirty := map[types.UID]*outcomeEntry{}
	o.mu.Lock()
	for uid, e := range o.entries {
		if e.dirty {
			dirty[uid] = e
		}
	}
	o.mu.Unlock()
	all := true
	for uid, e := range dirty {
		all = o.write(uid, e) && all
	}
	return all
}

// sweep drops what is kept of pods that went while no agent ran, and reports
// whether there are any left of which that is not known yet.
func (o *outcomes) sweep() bool {
	unclaimed := map[types.UID]string{}
	o.mu.Lock()
	for uid, e := range o.entries {
		if !e.claimed && e.kept != nil {
			unclaimed[uid] = e.kept.Source
		}
	}
	o.mu.Unlock()
	for uid, source := range unclaimed {
		if !o.removable(uid, source) {
			continue
		}
		delete(unclaimed, uid)
		o.mu.Lock()
		if e := o.entries[uid]; e != nil && !e.claimed {
			o.forget(e)
		}
		o.mu.Unlock()
	}
	return len(unclaimed) > 0
}

// run writes and drops until ctx ends, and then what is left to write.
func (o *outcomes) run(ctx context.Context) error {
	defer o.flush()
	sweep := time.NewTicker(outcomeSweep)
	defer sweep.Stop()
	write := time.NewTimer(outcomeBatch)
	write.Stop()
	defer write.Stop()
	for waiting := false; ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-o.urgent:
			o.writeAwaited()
		case <-o.nudge:
			if !waiting {
				waiting = true
				write.Reset(outcomeBatch)
			}
		case <-write.C:
			if waiting = !o.flush(); waiting {
				write.Reset(outcomeRetry)
			}
		case <-sweep.C:
			if !o.sweep() {
				sweep.Stop()
			}
		}
	}
}
