package memory

import (
	"sync"
	"testing"
)

// TestInstancesShareASnapshotInParallel starts, calls and closes instances of one plugin on
// many goroutines.
func TestInstancesShareASnapshotInParallel(t *testing.T) {
	t.Parallel()
	const goroutines, calls = 8, 50
	instances := *modelSteps / 1500
	for _, method := range methods {
		t.Run(method.String(), func(t *testing.T) {
			t.Parallel()
			first, _, want := prepared(t, 4*wasmPage, By(method))
			s := first.snapshot
			var group sync.WaitGroup
			for g := range goroutines {
				group.Go(func() {
					for range instances {
						l, err := NewLinear(4*wasmPage, By(method))
						if err != nil {
							t.Error(err)
							return
						}
						memory := l.Reallocate(4 * wasmPage)
						if err := l.Adopt(s); err != nil {
							t.Error(err)
						}
						for call := range calls {
							everyPage(memory[g*pageSize:], call%7+1)
							if _, err := l.Restore(); err != nil {
								t.Error(err)
							}
							if at := (call*977 + g) % len(want); memory[at] != want[at] {
								t.Errorf("byte %#x is %#x, want %#x", at, memory[at], want[at])
							}
							Usage()
						}
						if string(memory) != string(want) {
							t.Error("the memory holds something else")
						}
						l.Free()
					}
				})
			}
			group.Wait()
			if n := s.users.Load(); n != 2 {
				t.Errorf("%d users of the snapshot are left, want 2", n)
			}
		})
	}
}
