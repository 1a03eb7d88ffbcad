package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

// operations compares the operations that both sides report for each pod.
func (c *comparison) operations(theirs, ours said, excused causes, reworded map[key]rewording, began time.Time) error {
	if !slices.IsSortedFunc(ours.entries, func(a, b entry) int { return cmp.Compare(rank[a.op], rank[b.op]) }) {
		return fmt.Errorf("the kubelet says %v, wardlet says %v", ops(theirs.entries), ops(ours.entries))
	}
	a, b := byKey(theirs.entries), byKey(ours.entries)
	for _, k := range keys(a, b) {
		before := c.theirs[k]
		err := c.onePod(a[k], b[k], before)
		ids := excused[k]
		if r, ok := reworded[k]; ok && len(ids) == 1 && (!one(a[k], r.theirs) || !one(b[k], r.ours)) {
			return fmt.Errorf("%s: the kubelet says %v, want %q; wardlet says %v, want %q",
				k.uid, ops(a[k]), r.theirs, ops(b[k]), r.ours)
		}
		switch {
		case err == nil:
			c.tally.exact += len(a[k])
		case len(ids) == 0:
			return fmt.Errorf("%s of %s: %w", k.uid, k.source, err)
		default:
			c.tally.excused += max(len(a[k]), len(b[k]))
			c.tally.use(slices.Sorted(maps.Keys(ids))...)
		}
		for _, e := range a[k] {
			if err := e.seenBetween(began, time.Now(), c.theirs[k]); err != nil {
				return err
			}
			if e.op == api.Add && len(ids) > 0 {
				delete(c.theirs, k) // a kubelet may report ADD twice for one UID
			}
			if err := e.take(c.theirs); err != nil && len(ids) == 0 {
				return fmt.Errorf("the kubelet: %w", err)
			}
		}
	}
	return nil
}

// onePod compares the operations that both sides report for one pod.
func (c *comparison) onePod(theirs, ours []entry, before *held) error {
	if !slices.Equal(ops(theirs), ops(ours)) {
		return fmt.Errorf("the kubelet says %v, wardlet says %v", ops(theirs), ops(ours))
	}
	for i := range theirs {
		had := before
		if theirs[i].op == api.Add {
			had = nil
		}
		ids, err := explain(theirs[i].pod, ours[i].pod, had)
		if err != nil {
			return fmt.Errorf("%s: %w", theirs[i].op, err)
		}
		c.tally.use(ids...)
	}
	return nil
}

// holdTheSame checks that both sides have the same pods, except where a cause for a difference
// lasts.
func (c *comparison) holdTheSame(excused, lasting causes) error {
	all := keys(c.theirs, c.mixed.stream.held)
	for _, k := range all {
		theirs, ours := c.theirs[k], c.mixed.stream.held[k]
		switch {
		case len(lasting[k]) > 0:
		case theirs == nil || ours == nil:
			return fmt.Errorf("%s of %s: the kubelet has it: %t, wardlet has it: %t", k.uid, k.source, theirs != nil, ours != nil)
		case len(excused[k]) > 0:
			if _, err := explain(theirs.pod, ours.pod, theirs); err != nil {
				return fmt.Errorf("%s of %s when all is over: %w", k.uid, k.source, err)
			}
		}
	}
	return nil
}

func byKey(entries []entry) map[key][]entry {
	out := map[key][]entry{}
	for _, e := range entries {
		out[e.key] = append(out[e.key], e)
	}
	return out
}

func ops(entries []entry) []api.Op {
	out := make([]api.Op, len(entries))
	for i, e := range entries {
		out[i] = e.op
	}
	return out
}

// one reports whether the only operation is op, or there is none and op is "".
func one(entries []entry, op api.Op) bool {
	if op == "" {
		return len(entries) == 0
	}
	return len(entries) == 1 && entries[0].op == op
}

// keys returns the keys of both maps, sorted.
func keys[A, B any](a map[key]A, b map[key]B) []key {
	all := map[key]bool{}
	for k := range a {
		all[k] = true
	}
	for k := range b {
		all[k] = true
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.uid, b.uid))
	})
}
