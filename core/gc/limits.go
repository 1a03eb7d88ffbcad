package gc

import (
	"cmp"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/status"
)

// Limits are the limits for dead containers of pods that are kept.
type Limits struct {
	// MinAge is the minimum age of a container for its removal, counted from its creation.
	MinAge time.Duration
	// PerContainer is how many dead instances each container of each pod keeps in addition to the
	// newest instance. At least one is kept, because the container's last state is read from it.
	PerContainer int
	// Total is how many dead containers the node keeps, negative for no limit, which is the
	// default. Each container first keeps an equal share, at least one. Then the oldest are
	// removed.
	Total int
}

// DefaultLimits returns a kubelet's limits.
func DefaultLimits() Limits { return Limits{PerContainer: 1, Total: -1} }

// dead reports whether a container has exited, or could not be started.
func dead(c *status.ObservedContainer) bool { return c.State == status.StateExited }

// old reports whether a container may be removed because of its age. A creation time in the future,
// from a clock that was set back, counts as old.
func (l Limits) old(c *status.ObservedContainer, now time.Time) bool {
	age := now.Sub(c.CreatedAt)
	return l.MinAge <= 0 || age >= l.MinAge || age < 0
}

// surplus returns the containers of the pod beyond the limits of a pod: for each container all
// instances that do not run, except the newest instance and the newest dead ones. None of them can
// become the newest again, so their removal does not disturb the pod's worker.
func (l Limits) surplus(p *status.ObservedPod, now time.Time) []*status.ObservedContainer {
	var out []*status.ObservedContainer
	seen, kept := map[string]bool{}, map[string]int{}
	for i := range p.Containers {
		c := &p.Containers[i]
		keep := !seen[c.Name] || c.State == status.StateRunning || !l.old(c, now)
		seen[c.Name] = true
		if dead(c) {
			keep = keep || kept[c.Name] < max(l.PerContainer, 1)
			kept[c.Name]++
		}
		if !keep {
			out = append(out, c)
		}
	}
	return out
}

// overTotal returns, by ID, the containers to remove so that the pods keep at most Total dead ones.
func (l Limits) overTotal(pods []*status.ObservedPod, now time.Time) map[string]bool {
	if l.Total < 0 {
		return nil
	}
	groups, count := l.groups(pods, now)
	if count <= l.Total {
		return nil
	}
	over := map[string]bool{}
	share := max(l.Total/len(groups), 1)
	var rest []*status.ObservedContainer
	for _, group := range groups {
		for i, c := range group { // newest first
			if i >= share {
				over[c.ID] = true
				continue
			}
			rest = append(rest, c)
		}
	}
	if len(rest) <= l.Total {
		return over
	}
	slices.SortFunc(rest, func(a, b *status.ObservedContainer) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	for _, c := range rest[l.Total:] {
		over[c.ID] = true
	}
	return over
}

// groups returns the dead containers within the limits of their pods, one group for each container
// of each pod, the newest first, and their number.
func (l Limits) groups(pods []*status.ObservedPod, now time.Time) (groups [][]*status.ObservedContainer, count int) {
	for _, p := range pods {
		goes := map[string]bool{}
		for _, c := range l.surplus(p, now) {
			goes[c.ID] = true
		}
		at := map[string]int{}
		for i := range p.Containers {
			c := &p.Containers[i]
			if !dead(c) || goes[c.ID] || !l.old(c, now) {
				continue
			}
			group, known := at[c.Name]
			if !known {
				group = len(groups)
				at[c.Name] = group
				groups = append(groups, nil)
			}
			groups[group] = append(groups[group], c)
			count++
		}
	}
	return groups, count
}
