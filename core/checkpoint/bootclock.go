package checkpoint

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/node"
	"github.com/wardlet/wardlet/core/state"
)

// bootClock computes how long ago an event was that an earlier agent has recorded.
type bootClock struct {
	// now is the wall clock.
	now func() time.Time
	// boot returns the ID of the current boot and the time since it.
	boot func() (string, time.Duration, error)
}

func newBootClock() bootClock { return bootClock{now: time.Now, boot: node.BootTime} }

// at returns a wall clock time that is not in the future as a BootTime, nil if the boot time is not
// known.
func (c *bootClock) at(moment time.Time) *state.BootTime {
	boot, since, err := c.boot()
	if err != nil {
		return nil
	}
	return &state.BootTime{Boot: boot, Since: since - max(c.now().Sub(moment), 0)}
}

// ago returns how long ago a moment was. If it was during the current boot, changes of the wall
// clock have no effect. If it was before that boot, the wall clock is used, and the result is at
// least the time since that boot.
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

// ActiveFor returns how long a pod has been active that an earlier agent has started, 0 if that is
// not known.
func (o *Outcomes) ActiveFor(p *v1.Pod) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept, ok := o.kept.Get(p.UID)
	if !ok || kept.Status.StartTime.IsZero() {
		return 0
	}
	active := o.clock.ago(kept.Status.StartTime.Time, kept.Started)
	if now := o.clock.at(o.clock.now().Add(-active)); kept.Status.Phase == "" && now != nil && (kept.Started == nil || now.Boot != kept.Started.Boot) {
		// From now on the wall clock is not used any more.
		kept.Started = now
		o.kept.Set(p.UID, kept)
	}
	return active
}
