package attack

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestACallWithoutAnEndEndsWithItsContext checks that an endless call with unlimited fuel still
// returns to the host when its context ends, and is no failure of the plugin.
func TestACallWithoutAnEndEndsWithItsContext(t *testing.T) {
	e, _ := engine(t, patient)
	n := settle(t, e)
	for _, name := range []string{
		"loop-endless", "loop-branch-table", "loop-nested", "loop-memory-misses", "loop-host-calls", "calls-tree", "calls-tree-indirect",
		"bulk-fill-262144", "bulk-fill-1", "bulk-copy-overlap", "memory-grow-for-ever", "output-empty-reasons", "log-flood", "wasi-write-flood",
	} {
		t.Run(name, func(t *testing.T) {
			m := *named(t, name)
			m.fuel = 1 << 50
			p := load(t, e, &m, m.Name)
			defer closed(t, p)
			for range 2 {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				before := used(t)
				result, err := p.Admit(ctx, Request(defaultImage))
				cancel()
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("it answers %+v, %v; want the end of its context", result, err)
				}
				const most = time.Second
				if took := before.since(t); took.cpu > slowdown*most {
					t.Errorf("it took %v to end", took.cpu)
				}
			}
			n.check(t)
		})
	}
	if err := n.plugin.Close(); err != nil {
		t.Error(err)
	}
}
