package gc

import (
	"maps"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/status"
)

// removedFor is how long a removed object may still be known.
const removedFor = 2 * time.Minute

// removed records that a container or sandbox was removed. What is known about its pod may be older
// than that.
func (c *Collector) removed(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone[id] = time.Now()
}

// stillThere returns a known pod without the objects that were removed since, and false if nothing
// is left of it.
func (c *Collector) stillThere(known *status.ObservedPod) (*status.ObservedPod, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := func(id string) bool { _, ok := c.gone[id]; return ok }
	container := func(o status.ObservedContainer) bool { return was(o.ID) }
	sandbox := func(o status.ObservedSandbox) bool { return was(o.ID) }
	if slices.ContainsFunc(known.Containers, container) || slices.ContainsFunc(known.Sandboxes, sandbox) {
		p := *known
		p.Containers = slices.DeleteFunc(slices.Clone(p.Containers), container)
		p.Sandboxes = slices.DeleteFunc(slices.Clone(p.Sandboxes), sandbox)
		known = &p
	}
	return known, len(known.Containers)+len(known.Sandboxes) > 0
}

// forgetRemoved removes the entries of objects that were removed at least removedFor ago. The
// caller holds mu.
func (c *Collector) forgetRemoved() {
	maps.DeleteFunc(c.gone, func(_ string, at time.Time) bool { return time.Since(at) >= removedFor })
}
