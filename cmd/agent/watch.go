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
func (g *getter) watch(ctx context.Context, shown []entry) error {
	header := len(shown) == 0
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
		if len(changed) == 0 {
			continue
		}
		if isObjectFormat(g.flags.output) {
			if err := g.printEach(changed); err != nil {
				return err
			}
			continue
		}
		g.printRows(changed, header)
		header = false
	}
}

// changes gives what is new, differs or is gone. What is gone has no object to
// print.
func (g *getter) changes(before, now []entry) []entry {
	objects := isObjectFormat(g.flags.output)
	var changed []entry
	for _, e := range now {
		i := slices.IndexFunc(before, func(old entry) bool { return old.key == e.key })
		switch {
		case i < 0,
			objects && !reflect.DeepEqual(before[i].object, e.object),
			!objects && !slices.Equal(before[i].stable, e.stable),
			!objects && !slices.Equal(before[i].notes, e.notes):
			changed = append(changed, e)
		}
	}
	for _, old := range before {
		if !objects && !slices.ContainsFunc(now, func(e entry) bool { return e.key == old.key }) {
			changed = append(changed, entry{key: old.key, cells: old.gone})
		}
	}
	return changed
}
