package gc

import (
	"time"

	"github.com/wardlet/wardlet/core/internal/backoff"
	"github.com/wardlet/wardlet/core/status"
)

// keptDelays are the delays after which the removal of a stuck container is tried again.
var keptDelays = backoff.Exponential{Min: retryInterval, Max: maxInterval}

// kept is a container that the runtime does not remove: see status.ErrContainerStuck.
type kept struct {
	err   error
	pause time.Duration
	until time.Time
}

// keptYet returns the last error of a stuck container whose removal is not tried again yet, nil for
// other containers.
func (c *Collector) keptYet(id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, known := c.kept[id]; known && time.Now().Before(k.until) {
		return k.err
	}
	return nil
}

// keep delays the next removal of a stuck container.
func (c *Collector) keep(id string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pause := keptDelays.Next(c.kept[id].pause)
	c.kept[id] = kept{err, pause, time.Now().Add(pause)}
}

// forgetKept removes the entries of containers that no longer exist. The caller holds mu.
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
