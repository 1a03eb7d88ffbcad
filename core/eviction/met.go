package eviction

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/eviction/threshold"
)

// The names of resources in messages and events, beside those of the API.
const (
	inodes v1.ResourceName = "inodes"
	pids   v1.ResourceName = "pids"
)

// resourceOf returns the resource that a signal measures.
func resourceOf(s threshold.Signal) v1.ResourceName {
	switch s {
	case threshold.MemoryAvailable, threshold.AllocatableMemoryAvailable:
		return v1.ResourceMemory
	case threshold.NodeFSInodesFree, threshold.ImageFSInodesFree:
		return inodes
	case threshold.PIDAvailable:
		return pids
	}
	return v1.ResourceEphemeralStorage
}

// conditionOf returns the condition of a node on which a threshold of the signal is met.
func conditionOf(s threshold.Signal) v1.NodeConditionType {
	switch s {
	case threshold.MemoryAvailable, threshold.AllocatableMemoryAvailable:
		return v1.NodeMemoryPressure
	case threshold.PIDAvailable:
		return v1.NodePIDPressure
	}
	return v1.NodeDiskPressure
}

// isMet reports whether a threshold is met. If reclaim is true, its minimum reclaim must be
// available, too. Without an observation it is not met.
func isMet(t *threshold.Threshold, seen Observations, reclaim bool) bool {
	o, known := seen[t.Signal]
	if !known {
		return false
	}
	amount := t.Value.Of(o.Capacity)
	if reclaim && t.Reclaim != nil {
		amount.Add(t.Reclaim.Of(o.Capacity))
	}
	return amount.CmpInt64(o.Available) > 0
}

// state is what a pass keeps for the next one. The zero value is the state of a node on which no
// threshold was met yet.
type state struct {
	// since is the time since when each threshold is met, by its index.
	since map[int]time.Time
	// due are the thresholds for which pods are evicted and that are met until their minimum reclaim is
	// available.
	due map[int]bool
	// seen is the last time that each condition was observed, and why.
	seen map[v1.NodeConditionType]sighting
}

type sighting struct {
	at  time.Time
	why string
}

// advance adds the observations of a pass. It returns the indices of the thresholds for which pods
// must be evicted, in order, and the conditions of the node.
func (s *state) advance(all []threshold.Threshold, seen Observations, transition time.Duration, now time.Time) (due []int, conditions []Condition) {
	since := map[int]time.Time{}
	if s.seen == nil {
		s.seen = map[v1.NodeConditionType]sighting{}
	}
	stillDue := map[int]bool{}
	for i := range all {
		t := &all[i]
		if !isMet(t, seen, false) && (!s.due[i] || !isMet(t, seen, true)) {
			continue
		}
		from, before := s.since[i]
		if !before {
			from = now
		}
		since[i] = from
		if is := conditionOf(t.Signal); s.seen[is].at != now || s.seen[is].why == "" {
			s.seen[is] = sighting{now, fmt.Sprintf("%s is less than %s", t.Signal, t.Value)}
		}
		if now.Sub(from) >= t.Grace {
			due = append(due, i)
			stillDue[i] = true
		}
	}
	s.since, s.due = since, stillDue
	for is, last := range s.seen {
		if now.Sub(last.at) < transition {
			conditions = append(conditions, Condition{is, last.why})
		}
	}
	slices.SortFunc(conditions, func(a, b Condition) int { return cmp.Compare(a.Type, b.Type) })
	return due, conditions
}
