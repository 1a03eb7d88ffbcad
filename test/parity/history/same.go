package history

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/wardlet/wardlet/core/api"
)

// sameChanges compares what our two muxes say of one delivery, of which one
// may have been given the difference only. Whether a source counts as read is
// not compared: a difference does not make it so.
func sameChanges(mixed, whole []api.Update) error {
	a, b := changesOf(mixed), changesOf(whole)
	for i := range max(len(a), len(b)) {
		if i < len(a) && i < len(b) && reflect.DeepEqual(a[i], b[i]) {
			continue
		}
		return fmt.Errorf("with differences: %s; always given the whole: %s", list(a), list(b))
	}
	return nil
}

// changesOf are the changes of updates with the numbers left out, in the order
// of operations and then of pods.
func changesOf(updates []api.Update) (all []api.Change) {
	for _, u := range updates {
		all = append(all, u.Changes...)
	}
	for i := range all {
		all[i].Seq = 0
	}
	slices.SortStableFunc(all, func(a, b api.Change) int {
		return cmp.Or(
			cmp.Compare(rank[a.Op], rank[b.Op]), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Pod().UID, b.Pod().UID),
		)
	})
	return all
}

func list(changes []api.Change) (text []string) {
	for i := range changes {
		c := &changes[i]
		line := fmt.Sprintf("%s %s of %s", c.Op, c.Pod().UID, c.Origin.Document)
		if c.Replaces != "" {
			line += " for " + string(c.Replaces)
		}
		text = append(text, line)
	}
	return text
}
