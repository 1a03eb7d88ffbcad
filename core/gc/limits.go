package gc

import (
	"cmp"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/status"
)

// Limits say how many dead containers may stay, of pods that live on.
type Limits struct {
	// MinAge is how old a container has to be to be removed, by when it was made.
	MinAge time.Duration
	// PerContainer is how many dead instances each container of each pod keeps
	// beside the newest instance; at least one is kept, for a container's last state
	// is read from it.
	PerContainer int
	// Total is how many dead containers the node keeps, negative for any number, which
	// it is by default. Each
	// container keeps an equal share at first, at least one; then the oldest go.
	Total int
}

// DefaultLimits are a kubelet's.
func DefaultLimits() Limits { return Limits{PerContainer: 1, Total: -1} }

// dead reports whether a container has run, or was never to run, and is over.
func dead(c *status.ObservedContainer) bool { return c.State == status.StateExited }

// old reports whether a container may go by its age. One from the future, by a
// clock that was set back, is as old as any.
func (l Limits) old(c *status.ObservedContainer, now time.Time) bool {
	age := now.Sub(c.CreatedAt)
	return l.MinAge <= 0 || age >= l.MinAge || age < 0
}

// surplus is what the pod has too much of, by the limits of a pod: of each
// container all instances that do not run but the newest instance and the newest
// dead ones. None of it can become newest again, so the pod's worker is not in the
// way.
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

// overTotal is what has to go, by ID, for the dead containers that the pods would
// keep to be no more than Total.
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

// groups are the dead containers that the limits of a pod let stay, one group for
// each container of each pod, the newest first, and how many they are.
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
