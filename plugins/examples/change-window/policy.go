package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/filter"
	"github.com/wardlet/wardlet/plugins/sdk/glob"
	"github.com/wardlet/wardlet/plugins/sdk/request"
)

// again is the time after which a change is judged again while the clock is not
// synchronized.
const again = sdk.Minute

type policy struct {
	openings []opening
	// allowed are the kinds of change that may pass at any time.
	allowed []string
	// urgentLabels and urgentAnnotations mark pods whose changes may pass at any time.
	urgentLabels, urgentAnnotations []entry
	// passUnsynchronized: all changes may pass while the clock is not synchronized.
	passUnsynchronized bool
}

// entry is a label or an annotation, with a glob that its value must match.
type entry struct{ key, value string }

func (p *policy) judge() filter.Verdict {
	if why := p.always(); why != "" {
		filter.Explain(why)
		return filter.Pass()
	}
	if !synchronized.Bool() {
		if p.passUnsynchronized {
			filter.Explain("the node's clock is not synchronized, and settings.unsynchronized lets changes pass then")
			return filter.Pass()
		}
		return filter.Defer(again).Because("ClockUnsynchronized", "changes wait for a time of the week, but the node's clock is not synchronized")
	}
	time := now.Int()
	until, w := next(p.openings, time)
	if until == 0 {
		filter.Explain("a window is open")
		return filter.Pass()
	}
	var t sdk.Text
	t.Add("changes wait for the window that opens on ")
	writeTime(&t, time+until, w.offset)
	message := t.String()
	filter.Explain(message)
	return filter.Defer(sdk.Duration(until)).Because("OutsideChangeWindow", message)
}

// always returns why the change may pass at any time, empty if it may not.
func (p *policy) always() string {
	known := before.Exists() && !replaces.Exists()
	switch {
	case operation.String() == request.Add && !before.Exists():
		return "the pod is new: no window is for it"
	case known && !changed.Any():
		return "nothing changes that matters"
	case changed.Only(p.allowed...):
		return "settings.allow_changes lets pass what changes"
	case has(labels, p.urgentLabels), has(annotations, p.urgentAnnotations):
		return "the pod is marked as urgent"
	}
	return ""
}

// has reports whether the map in a field has one of the entries.
func has(of *sdk.Field, entries []entry) bool {
	for i := range entries {
		if value, ok := of.Lookup(entries[i].key); ok && glob.Match(entries[i].value, value) {
			return true
		}
	}
	return false
}
