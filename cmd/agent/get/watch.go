package get

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/wardlet/wardlet/cmd/agent/cli"
)

// follow prints what the agent tells, until ctx ends, which is good, or the agent
// tells no more.
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

// printChanges prints what a watch has found. header is whether the header is still
// to come.
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

// watch asks again and again and prints what differs from what was printed
// last, beginning with shown. It ends well with ctx, and with an error when
// the agent no longer answers.
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

// changes returns what is new, differs or is gone. What is gone has no object to
// print. Notes about everything are all there, or none if they say the same.
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

// reads reports whether e says the same as old, ages apart.
func (e *entry) reads(old *entry) bool {
	return slices.Equal(e.stable, old.stable) && sameNotes(e.notes, old.notes)
}

func sameNotes(a, b []note) bool {
	return slices.EqualFunc(a, b, func(x, y note) bool { return x.stable == y.stable })
}
