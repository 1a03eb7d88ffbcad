package review

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
	// EvictPeriod is how long a policy waits after it has evicted a pod.
	EvictPeriod = 10 * time.Second
	// evictPart: before it is confirmed, a policy may evict one in evictPart of the pods
	// that it judges, and at least one.
	evictPart = 10
	// evictMemory is how long a policy's evictions count for its next content, unless it
	// was confirmed.
	evictMemory = 24 * time.Hour
	// maxContents is how many contents of an owner's policies are stored beside those in
	// force; the one with the oldest eviction is dropped.
	maxContents = 64
)

// Evictions stores how many pods policies have evicted; see state.EvictionCounts. It is
// called by one goroutine.
type Evictions interface {
	// Load returns the counts of an owner's policies, none if they were never stored.
	Load(tenant string) (state.Evictions, error)
	// Store is durable when it returns nil.
	Store(e *state.Evictions) error
}

// evictionLimiter bounds the evictions of the policies of an owner. It belongs to the
// goroutine of the reviewer.
type evictionLimiter struct {
	disk Evictions
	kept state.Evictions
	// fault says why the disk does not have the counts; nothing is evicted then.
	fault error
	// unread reports that the disk has not been read yet. again is when a failed access
	// is tried again.
	unread bool
	again  time.Time
}

func newEvictionLimiter(disk Evictions, tenant string) *evictionLimiter {
	return &evictionLimiter{disk: disk, kept: state.Evictions{Tenant: tenant}, unread: disk != nil}
}

// load reads the counts of an earlier process, until that succeeds.
func (b *evictionLimiter) load() {
	if !b.unread {
		return
	}
	kept, err := b.disk.Load(b.kept.Tenant)
	if b.fault = err; err == nil {
		b.kept, b.unread = kept, false
	}
}

// evict counts one more pod for a policy before the pod is evicted. judged is how many pods
// the policy judges. After an error the pod must not be evicted.
func (b *evictionLimiter) evict(s *rollout.Set, p *eval.Policy, judged int, now time.Time) error {
	return b.change(s, p, judged, now, func(c *state.EvictionCount) { c.Evicted, c.Last = c.Evicted+1, now })
}

// giveBack subtracts a pod that was counted but not evicted.
func (b *evictionLimiter) giveBack(s *rollout.Set, p *eval.Policy, now time.Time) error {
	return b.change(s, p, 0, now, func(c *state.EvictionCount) { c.Evicted = max(c.Evicted-1, 0) })
}

// confirm lets a policy evict more.
func (b *evictionLimiter) confirm(s *rollout.Set, p *eval.Policy, judged int, now time.Time) error {
	return b.change(s, p, judged, now, func(c *state.EvictionCount) { c.Confirmed = true })
}

// change changes the count of a policy's content on the disk and then in memory.
func (b *evictionLimiter) change(s *rollout.Set, p *eval.Policy, judged int, now time.Time, change func(*state.EvictionCount)) error {
	if b.load(); b.unread {
		return fmt.Errorf("earlier evictions cannot be read: %w", b.fault)
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

// store writes the counts to the disk and then sets them.
func (b *evictionLimiter) store(s *rollout.Set, counts []state.EvictionCount) error {
	next := state.Evictions{Tenant: b.kept.Tenant, Policies: forget(counts, s)}
	if b.disk != nil {
		if b.fault = b.disk.Store(&next); b.fault != nil {
			return fmt.Errorf("the eviction cannot be saved: %w", b.fault)
		}
	}
	b.kept, b.fault = next, nil
	return nil
}

// forget drops the oldest counts if there are too many. Those of policies in force stay.
func forget(counts []state.EvictionCount, s *rollout.Set) []state.EvictionCount {
	var old []state.EvictionCount
	for i := range counts {
		if !hasContent(s, &counts[i]) {
			old = append(old, counts[i])
		}
	}
	if len(old) <= maxContents {
		return counts
	}
	oldest := slices.MinFunc(old, func(a, b state.EvictionCount) int { return cmp.Compare(a.Last.UnixNano(), b.Last.UnixNano()) })
	return slices.DeleteFunc(counts, func(c state.EvictionCount) bool { return c == oldest })
}

// of returns the count of a policy's content, nil if it has none. A content without a count
// starts with the recent evictions of the previous content: neither an edit nor another
// name is a confirmation.
func (b *evictionLimiter) of(s *rollout.Set, p *eval.Policy, now time.Time) *state.EvictionCount {
	if i := slices.IndexFunc(b.kept.Policies, func(c state.EvictionCount) bool { return isContent(&c, p) }); i >= 0 {
		return &b.kept.Policies[i]
	}
	newest := func(counts func(*state.EvictionCount) bool) (found *state.EvictionCount) {
		for i := range b.kept.Policies {
			c := &b.kept.Policies[i]
			if !c.Last.IsZero() && now.Sub(c.Last) < evictMemory && counts(c) && (found == nil || c.Last.After(found.Last)) {
				found = c
			}
		}
		return found
	}
	before := newest(func(c *state.EvictionCount) bool { return c.Policy == p.Name })
	if before == nil {
		before = newest(func(c *state.EvictionCount) bool { return !c.Confirmed && renamed(s, c, p) })
	}
	if before == nil || before.Confirmed {
		return nil
	}
	return &state.EvictionCount{
		Policy: p.Name, Document: p.DocumentSum, Module: p.MadeOf(), Of: before.Of, Evicted: before.Evicted, Last: before.Last,
	}
}

func isContent(c *state.EvictionCount, p *eval.Policy) bool {
	return c.Policy == p.Name && c.Document == p.DocumentSum && c.Module == p.MadeOf()
}

// hasContent reports whether the content of a count is in the set, which may be nil.
func hasContent(s *rollout.Set, c *state.EvictionCount) bool {
	p := s.Find(c.Policy)
	return p != nil && isContent(c, p)
}

// renamed reports whether a count may belong to an earlier name of a policy.
func renamed(s *rollout.Set, c *state.EvictionCount, p *eval.Policy) bool {
	return c.Policy != p.Name && c.Module == p.MadeOf() && !hasContent(s, c)
}

// next returns when the policy may evict one more pod: at the earliest EvictPeriod after
// the last eviction by any of its contents.
func (b *evictionLimiter) next(s *rollout.Set, p *eval.Policy, now time.Time) time.Time {
	var last time.Time
	for i := range b.kept.Policies {
		if c := &b.kept.Policies[i]; (c.Policy == p.Name || renamed(s, c, p)) && c.Last.After(last) {
			last = c.Last
		}
	}
	if last.IsZero() {
		return now
	}
	if last.After(now) {
		last = now // the clock was set back
	}
	if next := last.Add(EvictPeriod); next.After(now) {
		return next
	}
	return now
}

// adopt starts the count of a content with earlier evictions. judged is how many pods the
// content judges: its share is a share of those.
func (b *evictionLimiter) adopt(s *rollout.Set, p *eval.Policy, judged int, now time.Time) error {
	if c := b.of(s, p, now); c == nil || slices.ContainsFunc(b.kept.Policies, func(c state.EvictionCount) bool { return isContent(&c, p) }) {
		return nil
	}
	return b.change(s, p, judged, now, func(c *state.EvictionCount) { c.Of = judged + c.Evicted })
}

// retire records which confirmed contents are no longer in force, and drops their counts
// after a day.
func (b *evictionLimiter) retire(s *rollout.Set, now time.Time) error {
	next, changed := slices.Clone(b.kept.Policies), false
	next = slices.DeleteFunc(next, func(c state.EvictionCount) bool {
		over := c.Confirmed && !c.Left.IsZero() && now.Sub(c.Left) >= evictMemory
		changed = changed || over
		return over
	})
	for i := range next {
		c := &next[i]
		left := c.Confirmed && !hasContent(s, c)
		if left == c.Left.IsZero() {
			changed = true
			if c.Left = (time.Time{}); left {
				c.Left = now
			}
		}
	}
	if !changed {
		return nil
	}
	return b.store(s, next)
}

// retire updates the counts of an owner's policies to what is in force.
func (r *Reviewer) retire(s *rollout.Set, now time.Time) {
	b := r.limiters[s.Eval.Tenant]
	if b.load(); b.unread || b.fault != nil && b.again.After(now) {
		return
	}
	if err := b.retire(s, now); err != nil {
		r.uncounted(b, s.Eval.Tenant, err, now)
	}
}

// adopt starts the count of a policy with earlier evictions, once it has judged all pods.
func (r *Reviewer) adopt(f *effectiveSets, s *rollout.Set, p *eval.Policy, now time.Time) {
	b := r.limiters[s.Eval.Tenant]
	if b.load(); b.unread || b.fault != nil && b.again.After(now) || r.unjudged(f, p.Tenant) > 0 {
		return
	}
	if err := b.adopt(s, p, r.judged(f, p), now); err != nil {
		r.uncounted(b, s.Eval.Tenant, err, now)
	}
}

// uncounted stops evictions for a while, because they could not be counted.
func (r *Reviewer) uncounted(b *evictionLimiter, tenant string, err error, now time.Time) {
	b.again = now.Add(EvictPeriod)
	r.cfg.Logger.Error("evictions cannot be counted", "tenant", tenant, "err", err)
}

// count returns how many pods a policy has evicted, and how many it may evict before it is
// confirmed: a share of the pods that it judges now or that it judged at first, whichever
// are fewer.
func (r *Reviewer) count(f *effectiveSets, s *rollout.Set, p *eval.Policy, now time.Time) (c state.EvictionCount, may int) {
	judged := r.judged(f, p)
	known := r.limiters[s.Eval.Tenant].of(s, p, now)
	if known == nil {
		return state.EvictionCount{Of: judged}, allowed(judged)
	}
	c = *known
	if r.unjudged(f, p.Tenant) > 0 {
		return c, allowed(c.Of)
	}
	return c, allowed(min(c.Of, judged+c.Evicted))
}

// spent reports whether the policy has evicted as many as it may.
func (r *Reviewer) spent(f *effectiveSets, s *rollout.Set, p *eval.Policy, now time.Time) bool {
	c, may := r.count(f, s, p, now)
	return !c.Confirmed && c.Evicted >= may
}

// allowed returns how many pods may be evicted before the policy is confirmed.
func allowed(of int) int { return max(1, of/evictPart) }
