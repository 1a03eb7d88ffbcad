package gc

import (
	"maps"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/status"
)

// removedFor is for how long something may be known that was removed.
const removedFor = 2 * time.Minute

// removed notes that a container or sandbox is no more. What is known of its pod
// may be from before that.
func (c *Collector) removed(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone[id] = time.Now()
}

// stillThere is a pod as it is known without what was removed since, false where
// nothing is left of it.
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

// forgetRemoved drops what was removed at least removedFor ago. The caller holds
// mu.
func (c *Collector) forgetRemoved() {
	maps.DeleteFunc(c.gone, func(_ string, at time.Time) bool { return time.Since(at) >= removedFor })
}
