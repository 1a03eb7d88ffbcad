package gc

import (
	"time"

	"github.com/wardlet/wardlet/core/internal/backoff"
	"github.com/wardlet/wardlet/core/status"
)

// keptDelays is how long a container that the runtime keeps is left alone.
var keptDelays = backoff.Exponential{Min: retryInterval, Max: maxInterval}

// kept is a container that the runtime does not let go of: see status.ErrContainerStuck.
type kept struct {
	err   error
	pause time.Duration
	until time.Time
}

// keptYet returns the error that a container met that is left alone for now.
func (c *Collector) keptYet(id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, known := c.kept[id]; known && time.Now().Before(k.until) {
		return k.err
	}
	return nil
}

// keep leaves a container alone for a while.
func (c *Collector) keep(id string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pause := keptDelays.Next(c.kept[id].pause)
	c.kept[id] = kept{err, pause, time.Now().Add(pause)}
}

// forgetKept drops those that are not there any more. The caller holds mu.
func (c *Collector) forgetKept(observed []status.ObservedPod) {
	if len(c.kept) == 0 {
		return
	}
	still := map[string]kept{}
	for i := range observed {
		for j := range observed[i].Containers {
			id := observed[i].Containers[j].ID
			if k, known := c.kept[id]; known {
				still[id] = k
			}
		}
	}
	c.kept = still
}
