package main

import (
	"cmp"
	"slices"
	"time"
)

// twice finds what must not run beside each other: two containers of one name of a pod, two sandboxes of a pod, two pods
// of one name.
func twice(v *view) []finding {
	return append(twiceAmong(v.at, v.sandboxes), twiceAmong(v.at, v.containers)...)
}

func twiceAmong(at time.Time, units []unit) []finding {
	var all []finding
	for i := range units {
		for j := range units[:i] {
			one, other := &units[j], &units[i]
			if one.state != alive || other.state != alive || one.pod != other.pod {
				continue
			}
			switch {
			case one.uid != other.uid:
				all = append(all, found(at, one.pod, "two pods of one name run at once: %s and %s", one, other))
			case one.name == other.name:
				all = append(all, found(at, one.pod, "two of one kind run at once: %s and %s", one, other))
			}
		}
	}
	return all
}

// twiceInProc is twice by the process table, where what has a process runs, and what is known of sandboxes and containers.
func twiceInProc(at time.Time, processes map[string][]int, known map[string]*unit) []finding {
	var running []unit
	for id := range processes {
		if u := known[id]; u != nil {
			live := *u
			live.state = alive
			running = append(running, live)
		}
	}
	slices.SortFunc(running, func(a, b unit) int { return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.id, b.id)) })
	return twiceAmong(at, running)
}
