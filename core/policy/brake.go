package policy

import (
	"cmp"
	"fmt"
	"slices"
	"time"

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

// of gives the count of a policy's content. One that has none begins with what the
// content before has evicted of late: an edit is no confirmation. It is nil where there
// is neither.
func (b *brakes) of(p *policy, now time.Time) *state.EvictionCount {
	var before *state.EvictionCount
	for i := range b.kept.Policies {
		c := &b.kept.Policies[i]
		switch {
		case isContent(c, p):
			return c
		case c.Policy == p.Name && !c.Last.IsZero() && (before == nil || c.Last.After(before.Last)):
			before = c
		}
	}
	if before == nil || before.Confirmed || now.Sub(before.Last) >= evictMemory {
		return nil
	}
	return &state.EvictionCount{
		Policy: p.Name, Document: p.source, Module: p.made(), Of: before.Of, Evicted: before.Evicted, Last: before.Last,
	}
}

func isContent(c *state.EvictionCount, p *policy) bool {
	return c.Policy == p.Name && c.Document == p.source && c.Module == p.made()
}

// allowed is how many pods may be evicted before the policy is confirmed.
func allowed(of int) int { return max(1, of/evictPart) }

// next is when the policy may evict one more pod: at the earliest evictPeriod after
// the last, whichever content of it has evicted that.
func (b *brakes) next(p *policy, now time.Time) time.Time {
	var last time.Time
	for _, c := range b.kept.Policies {
		if c.Policy == p.Name && c.Last.After(last) {
			last = c.Last
		}
	}
	if last.IsZero() {
		return now
	}
	if last.After(now) {
		last = now // the clock was set back
	}
	if next := last.Add(evictPeriod); next.After(now) {
		return next
	}
	return now
}

// spent reports whether the policy has evicted as many as it may.
func (b *brakes) spent(p *policy, now time.Time) bool {
	c := b.of(p, now)
	return c != nil && !c.Confirmed && c.Evicted >= allowed(c.Of)
}

// evict counts one more pod of a policy that judges so many, before that is ended.
// Where the disk does not take it, nothing is to be ended.
func (b *brakes) evict(s *set, p *policy, judged int, now time.Time) error {
	return b.change(s, p, judged, now, func(c *state.EvictionCount) { c.Evicted, c.Last = c.Evicted+1, now })
}

// giveBack counts one pod less: it was not ended.
func (b *brakes) giveBack(s *set, p *policy, now time.Time) error {
	return b.change(s, p, 0, now, func(c *state.EvictionCount) { c.Evicted = max(c.Evicted-1, 0) })
}

// confirm lets a policy evict more.
func (b *brakes) confirm(s *set, p *policy, judged int, now time.Time) error {
	return b.change(s, p, judged, now, func(c *state.EvictionCount) { c.Confirmed = true })
}

// change changes the count of a policy's content on the disk and then here.
func (b *brakes) change(s *set, p *policy, judged int, now time.Time, change func(*state.EvictionCount)) error {
	if b.load(); b.unread {
		return fmt.Errorf("what was evicted before cannot be read: %w", b.fault)
	}
	next := state.Evictions{Tenant: b.kept.Tenant, Policies: slices.Clone(b.kept.Policies)}
	i := slices.IndexFunc(next.Policies, func(c state.EvictionCount) bool { return isContent(&c, p) })
	if i < 0 {
		i = len(next.Policies)
		c := state.EvictionCount{Policy: p.Name, Document: p.source, Module: p.made(), Of: judged}
		if before := b.of(p, now); before != nil {
			c = *before
		}
		next.Policies = append(next.Policies, c)
	}
	change(&next.Policies[i])
	next.Policies = forget(next.Policies, s)
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
func forget(counts []state.EvictionCount, s *set) []state.EvictionCount {
	inForce := func(c *state.EvictionCount) bool {
		p := s.find(c.Policy)
		return p != nil && isContent(c, p)
	}
	var old []state.EvictionCount
	for i := range counts {
		if !inForce(&counts[i]) {
			old = append(old, counts[i])
		}
	}
	if len(old) <= maxBrakes {
		return counts
	}
	oldest := slices.MinFunc(old, func(a, b state.EvictionCount) int { return cmp.Compare(a.Last.UnixNano(), b.Last.UnixNano()) })
	return slices.DeleteFunc(counts, func(c state.EvictionCount) bool { return c == oldest })
}
