package pleg

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// Pods are all pods there are: those of the last full list, and what was seen
// of each pod since, in place of what the list says. The time is when that
// list was begun, zero if there was none yet; then there are no pods.
func (c *Cache) Pods() ([]status.ObservedPod, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listAt.IsZero() {
		return nil, c.listAt
	}
	if c.merged == nil {
		c.merged = c.merge()
	}
	return c.merged, c.listAt
}

// merge lays what was inspected since the list over it. Pods that are new come
// first, for the newest do.
func (c *Cache) merge() []status.ObservedPod {
	since := map[types.UID]*status.ObservedPod{}
	for uid, e := range c.entries {
		if e.seen.After(c.listAt) {
			since[uid] = &e.pod
		}
	}
	if len(since) == 0 && c.list != nil {
		return c.list
	}
	out := make([]status.ObservedPod, 0, len(c.list)+len(since))
	for i := range c.list {
		p := &c.list[i]
		if seen, ok := since[p.UID]; ok {
			p = seen
			delete(since, p.UID)
		}
		out = appendPod(out, p)
	}
	var fresh []status.ObservedPod
	for _, p := range since {
		fresh = appendPod(fresh, p)
	}
	slices.SortFunc(fresh, func(a, b status.ObservedPod) int { return cmp.Compare(a.UID, b.UID) })
	return append(fresh, out...)
}

// appendPod appends a pod unless nothing is left of it.
func appendPod(out []status.ObservedPod, p *status.ObservedPod) []status.ObservedPod {
	if len(p.Sandboxes) == 0 && len(p.Containers) == 0 {
		return out
	}
	return append(out, *p)
}
