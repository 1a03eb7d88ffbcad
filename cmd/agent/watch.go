package main

import (
	"context"
	"reflect"
	"slices"
	"time"
)

// watch asks again and again and prints what differs from what was printed
// last, beginning with shown. It ends well with ctx, and with an error when
// the agent no longer answers.
func (g *getter) watch(ctx context.Context, shown listing) error {
	header := len(shown.entries) == 0
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(g.app.poll):
		}
		now, _, err := g.ask(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // a watch that is ended fails its last question
		}
		if err != nil {
			return err
		}
		changed := g.changes(shown, now)
		shown = now
		if len(changed.entries) == 0 && len(changed.notes) == 0 {
			continue
		}
		if !isTableFormat(g.flags.output) {
			if err := g.printEach(changed); err != nil {
				return err
			}
			continue
		}
		g.printRows(changed, header && len(changed.entries) > 0)
		header = header && len(changed.entries) == 0
	}
}

// changes gives what is new, differs or is gone. What is gone has no object to
// print. Notes about everything are all there, or none if they say the same.
func (g *getter) changes(before, now listing) listing {
	objects := !isTableFormat(g.flags.output)
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

// reads reports whether e says the same as old, ages apart.
func (e *entry) reads(old *entry) bool {
	return slices.Equal(e.stable, old.stable) && sameNotes(e.notes, old.notes)
}

func sameNotes(a, b []note) bool {
	return slices.EqualFunc(a, b, func(x, y note) bool { return x.stable == y.stable })
}
