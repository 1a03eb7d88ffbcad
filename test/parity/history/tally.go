package history

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tally counts what was compared.
type tally struct {
	deliveries int
	// exact are operations on pods that are the same on both sides, excused
	// those that belong to a listed difference.
	exact, excused int
	used           map[string]int
}

func newTally() *tally { return &tally{used: map[string]int{}} }

func (t *tally) add(o *tally) {
	t.deliveries += o.deliveries
	t.exact += o.exact
	t.excused += o.excused
	for id, n := range o.used {
		t.used[id] += n
	}
}

func (t *tally) use(ids ...string) {
	for _, id := range ids {
		t.used[id]++
	}
}

// String is what was compared, for a reader.
func (t *tally) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d deliveries compared; %d operations on pods the same, %d of %d excused by a listed difference\n",
		t.deliveries, t.exact, t.excused, t.exact+t.excused)
	for _, id := range slices.Sorted(maps.Keys(t.used)) {
		fmt.Fprintf(&text, "  %-32s used %d times\n", id, t.used[id])
	}
	return text.String()
}
