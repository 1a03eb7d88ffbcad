package get

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/wardlet/wardlet/cmd/agent/cli"
)

// follow prints the changes that the agent reports. It returns nil when ctx ends, and an error when
// the agent stops reporting.
func (g *getter) follow(ctx context.Context) error {
	begun, header := false, false
	err := g.stream(ctx, func(batch listing) error {
		if !begun {
			begun = true
			shown, err := g.begin(batch)
			header = len(shown.entries) == 0
			return err
		}
		return g.printChanges(g.asked(batch), &header)
	})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // a watch that is ended breaks off
	}
	return err
}

// printChanges prints the changes that a watch found. header is true until the header is printed.
func (g *getter) printChanges(changed listing, header *bool) error {
	switch {
	case len(changed.entries) == 0 && len(changed.notes) == 0:
		return nil
	case !cli.IsTableFormat(g.flags.output):
		return g.printEach(changed)
	}
	g.printRows(changed, *header && len(changed.entries) > 0)
	*header = *header && len(changed.entries) == 0
	return nil
}

// watch polls and prints whatever differs from the last output, beginning with shown. It returns
// nil when ctx ends, and an error when the agent no longer answers.
func (g *getter) watch(ctx context.Context, shown listing) error {
	header := len(shown.entries) == 0
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(g.app.Poll):
		}
		now, err := g.list(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // a watch that is ended fails its last question
		}
		if err != nil {
			return err
		}
		now = g.asked(now)
		changed := g.changes(shown, now)
		shown = now
		if err := g.printChanges(changed, &header); err != nil {
			return err
		}
	}
}

// changes returns the entries that are new, changed or gone; an entry that is gone has no object to
// print. It returns either all notes about the whole listing, or none if they are unchanged.
func (g *getter) changes(before, now listing) listing {
	objects := !cli.IsTableFormat(g.flags.output)
	var changed listing
	for _, e := range now.entries {
		i := slices.IndexFunc(before.entries, func(old entry) bool { return old.key == e.key })
		if i < 0 || objects && !reflect.DeepEqual(before.entries[i].object, e.object) ||
			!objects && !e.reads(&before.entries[i]) {
			changed.entries = append(changed.entries, e)
		}
	}
	if objects {
		return changed
	}
	for _, old := range before.entries {
		if old.gone != nil && !slices.ContainsFunc(now.entries, func(e entry) bool { return e.key == old.key }) {
			changed.entries = append(changed.entries, entry{key: old.key, cells: old.gone})
		}
	}
	if !sameNotes(before.notes, now.notes) {
		changed.notes = now.notes
	}
	return changed
}

// reads reports whether e and old differ at most in ages.
func (e *entry) reads(old *entry) bool {
	return slices.Equal(e.stable, old.stable) && sameNotes(e.notes, old.notes)
}

func sameNotes(a, b []note) bool {
	return slices.EqualFunc(a, b, func(x, y note) bool { return x.stable == y.stable })
}
