package checkpoint

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/node"
	"github.com/wardlet/wardlet/core/state"
)

// bootClock tells how long ago something was that an earlier agent has seen.
type bootClock struct {
	// now is the wall clock.
	now func() time.Time
	// boot is the time since the machine booted, and which boot that is.
	boot func() (string, time.Duration, error)
}

func newBootClock() bootClock { return bootClock{now: time.Now, boot: node.BootTime} }

// at is a moment of the wall clock, which is not to come, nil where it cannot be
// told.
func (c *bootClock) at(moment time.Time) *state.BootTime {
	boot, since, err := c.boot()
	if err != nil {
		return nil
	}
	return &state.BootTime{Boot: boot, Since: since - max(c.now().Sub(moment), 0)}
}

// ago is how long a moment is ago. In the boot that it was in, a wall clock that
// was set since changes nothing; after another boot the wall clock counts, but it
// is at least as long ago as that boot.
func (c *bootClock) ago(wall time.Time, moment *state.BootTime) time.Duration {
	byWall := max(c.now().Sub(wall), 0)
	boot, since, err := c.boot()
	switch {
	case err != nil || moment == nil:
		return byWall
	case moment.Boot == boot:
		return max(since-moment.Since, 0)
	}
	return max(byWall, since)
}

// ActiveFor is for how long a pod has been active that an earlier agent has
// started, 0 for one of which that is not known.
func (o *Outcomes) ActiveFor(p *v1.Pod) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept, ok := o.kept.Get(p.UID)
	if !ok || kept.Status.StartTime.IsZero() {
		return 0
	}
	active := o.clock.ago(kept.Status.StartTime.Time, kept.Started)
	if now := o.clock.at(o.clock.now().Add(-active)); kept.Status.Phase == "" && now != nil && (kept.Started == nil || now.Boot != kept.Started.Boot) {
		// From now on the wall clock has no say any more.
		kept.Started = now
		o.kept.Set(p.UID, kept)
	}
	return active
}
