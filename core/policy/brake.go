package policy

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/rollout"
	"github.com/wardlet/wardlet/core/state"
)

const (
	// evictPeriod is how long a policy waits after it has evicted a pod.
	evictPeriod = 10 * time.Second
	// evictPart is the part of the pods it judges that a policy may evict before it
	// is confirmed: one of so many, and one at least.
	evictPart = 10
	// evictMemory is how long what a policy has evicted counts for its next content, too,
	// unless that was confirmed.
	evictMemory = 24 * time.Hour
	// maxBrakes is how many contents of an owner's policies are remembered beside
	// those in force; the one that evicted last longest ago is forgotten.
	maxBrakes = 64
)

// Evictions keeps what policies have evicted over restarts; see
// state.EvictionCounts. It is called by one goroutine.
type Evictions interface {
	// Load gives what is known of an owner's policies, nothing where that was never
	// stored.
	Load(tenant string) (state.Evictions, error)
	// Store is durable when it returns nil.
	Store(e *state.Evictions) error
}

// brakes bound what the policies of an owner evict. They belong to the goroutine of
// the reviewer.
type brakes struct {
	disk Evictions
	kept state.Evictions
	// fault is why the disk does not have what is to be counted; nothing is evicted
	// then.
	fault error
	// unread: the disk has not been read yet. again is when it is tried again that
	// failed.
	unread bool
	again  time.Time
}

func newBrakes(disk Evictions, tenant string) *brakes {
	return &brakes{disk: disk, kept: state.Evictions{Tenant: tenant}, unread: disk != nil}
}

// load reads what was counted before a restart, until that could be read.
func (b *brakes) load() {
	if !b.unread {
		return
	}
	kept, err := b.disk.Load(b.kept.Tenant)
	if b.fault = err; err == nil {
		b.kept, b.unread = kept, false
	}
}

// evict counts one more pod of a policy that judges so many, before that is ended.
// Where the disk does not take it, nothing is to be ended.
func (b *brakes) evict(s *rollout.Set, p *eval.Policy, judged int, now time.Time) error {
	return b.change(s, p, judged, now, func(c *state.EvictionCount) { c.Evicted, c.Last = c.Evicted+1, now })
}

// giveBack counts one pod less: it was not ended.
func (b *brakes) giveBack(s *rollout.Set, p *eval.Policy, now time.Time) error {
	return b.change(s, p, 0, now, func(c *state.EvictionCount) { c.Evicted = max(c.Evicted-1, 0) })
}

// confirm lets a policy evict more.
func (b *brakes) confirm(s *rollout.Set, p *eval.Policy, judged int, now time.Time) error {
	return b.change(s, p, judged, now, func(c *state.EvictionCount) { c.Confirmed = true })
}

// change changes the count of a policy's content on the disk and then here.
func (b *brakes) change(s *rollout.Set, p *eval.Policy, judged int, now time.Time, change func(*state.EvictionCount)) error {
	if b.load(); b.unread {
		return fmt.Errorf("what was evicted before cannot be read: %w", b.fault)
	}
	next := slices.Clone(b.kept.Policies)
	i := slices.IndexFunc(next, func(c state.EvictionCount) bool { return isContent(&c, p) })
	if i < 0 {
		i = len(next)
		c := state.EvictionCount{Policy: p.Name, Document: p.DocumentSum, Module: p.MadeOf(), Of: judged}
		if before := b.of(s, p, now); before != nil {
			c = *before
		}
		next = append(next, c)
	}
	change(&next[i])
	return b.store(s, next)
}

// store puts counts on the disk and then here.
func (b *brakes) store(s *rollout.Set, counts []state.EvictionCount) error {
	next := state.Evictions{Tenant: b.kept.Tenant, Policies: forget(counts, s)}
	if b.disk != nil {
		if b.fault = b.disk.Store(&next); b.fault != nil {
			return fmt.Errorf("what is evicted cannot be written: %w", b.fault)
		}
	}
	b.kept, b.fault = next, nil
	return nil
}

// forget drops the oldest counts where there are too many. Those of policies in force
// stay.
func forget(counts []state.EvictionCount, s *rollout.Set) []state.EvictionCount {
	var old []state.EvictionCount
	for i := range counts {
		if !hasContent(s, &counts[i]) {
			old = append(old, counts[i])
		}
	}
	if len(old) <= maxBrakes {
		return counts
	}
	oldest := slices.MinFunc(old, func(a, b state.EvictionCount) int { return cmp.Compare(a.Last.UnixNano(), b.Last.UnixNano()) })
	return slices.DeleteFunc(counts, func(c state.EvictionCount) bool { return c == oldest })
}
