package workers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tally counts what was compared, and what was excused.
type tally struct {
	pods int
	// met counts the states without which a comparison is worth nothing.
	met, used map[string]int
}

func newTally() *tally { return &tally{met: map[string]int{}, used: map[string]int{}} }

func (t *tally) note(l *Look) {
	for _, s := range l.Pods {
		t.pods++
		for what, is := range map[string]bool{
			"set up":                   s.SetUp,
			"hangs in set up":          s.Hangs == callSetUp,
			"hangs in stop":            s.Hangs == callStop,
			"hangs in clean up":        s.Hangs == callClean,
			"ending":                   s.TerminationRequested && !s.KnownTerminated,
			"ended, not cleaned up":    s.KnownTerminated && !s.Finished,
			"finished":                 s.KnownTerminated && s.Finished,
			"ended before it began":    s.Finished && s.KnownTerminated && !s.ContainersTerminating,
			"stopped with a mark":      s.Mark != "",
			"stopped within its grace": s.Grace > 1,
		} {
			if is {
				t.met[what]++
			} else {
				t.met[what] += 0
			}
		}
	}
}

func (t *tally) add(o *tally) {
	t.pods += o.pods
	for id, n := range o.used {
		t.used[id] += n
	}
	for what, n := range o.met {
		t.met[what] += n
	}
}

func (t *tally) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d looks at a pod the same", t.pods)
	for _, counts := range []map[string]int{t.met, t.used} {
		for _, what := range slices.Sorted(maps.Keys(counts)) {
			fmt.Fprintf(&text, "\n  %-28s %d times", what, counts[what])
		}
	}
	return text.String()
}
