package manifest

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// uses counts how often each line of docs/differences.md explained a difference, and the results of
// the comparisons.
type uses struct {
	mu    sync.Mutex
	times map[string]int

	accepted, refused, named, sameField atomic.Int64
}

func newUses() *uses { return &uses{times: map[string]int{}} }

func (u *uses) count(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.times[id]++
}

func (u *uses) of(id string) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.times[id]
}

func (u *uses) add(more *uses) {
	more.mu.Lock()
	defer more.mu.Unlock()
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, n := range more.times {
		u.times[id] += n
	}
	u.accepted.Add(more.accepted.Load())
	u.refused.Add(more.refused.Load())
	u.named.Add(more.named.Load())
	u.sameField.Add(more.sameField.Load())
}

func (u *uses) log(t *testing.T, of string) {
	t.Helper()
	t.Logf("%s: both took %d documents and made the same pods; both refused %d, of %d that name fields %d name one in common",
		of, u.accepted.Load(), u.refused.Load(), u.named.Load(), u.sameField.Load())
	u.mu.Lock()
	defer u.mu.Unlock()
	ids := make([]string, 0, len(u.times))
	for id := range u.times {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		t.Logf("  %6d  %s", u.times[id], id)
	}
}
