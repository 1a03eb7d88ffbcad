package policy

import (
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/rollout"
	"github.com/wardlet/wardlet/core/state"
)

// of gives the count of a policy's content, nil where it has none. One that has none
// begins with what was evicted before it of late: neither an edit nor another name is a
// confirmation.
func (b *brakes) of(s *rollout.Set, p *eval.Policy, now time.Time) *state.EvictionCount {
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

// hasContent reports whether what a count is of is in the set, which may be nil.
func hasContent(s *rollout.Set, c *state.EvictionCount) bool {
	p := s.Find(c.Policy)
	return p != nil && isContent(c, p)
}

// renamed reports whether a count may be of a policy when that had another name.
func renamed(s *rollout.Set, c *state.EvictionCount, p *eval.Policy) bool {
	return c.Policy != p.Name && c.Module == p.MadeOf() && !hasContent(s, c)
}

// next is when the policy may evict one more pod: at the earliest evictPeriod after
// the last, whichever content of it has evicted that.
func (b *brakes) next(s *rollout.Set, p *eval.Policy, now time.Time) time.Time {
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
	if next := last.Add(evictPeriod); next.After(now) {
		return next
	}
	return now
}

// adopt makes what was evicted before a content its own, as it judges so many pods:
// its share is one of those.
func (b *brakes) adopt(s *rollout.Set, p *eval.Policy, judged int, now time.Time) error {
	if c := b.of(s, p, now); c == nil || slices.ContainsFunc(b.kept.Policies, func(c state.EvictionCount) bool { return isContent(&c, p) }) {
		return nil
	}
	return b.change(s, p, judged, now, func(c *state.EvictionCount) { c.Of = judged + c.Evicted })
}

// retire notes which confirmed contents have gone out of force, and ends the
// confirmation of those that are for a day.
func (b *brakes) retire(s *rollout.Set, now time.Time) error {
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

// retire has the counts of an owner's policies follow what is in force.
func (r *reviewer) retire(s *rollout.Set, now time.Time) {
	b := r.brakes[s.Eval.Tenant]
	if b.load(); b.unread || b.fault != nil && b.again.After(now) {
		return
	}
	if err := b.retire(s, now); err != nil {
		r.uncounted(b, s.Eval.Tenant, err, now)
	}
}

// adopt has a policy begin with what was evicted before it, once it has judged all pods.
func (r *reviewer) adopt(f *forces, s *rollout.Set, p *eval.Policy, now time.Time) {
	b := r.brakes[s.Eval.Tenant]
	if b.load(); b.unread || b.fault != nil && b.again.After(now) || r.unjudged(f, p.Tenant) > 0 {
		return
	}
	if err := b.adopt(s, p, r.judged(f, p), now); err != nil {
		r.uncounted(b, s.Eval.Tenant, err, now)
	}
}

// uncounted has nothing evicted for a while: it could not be counted.
func (r *reviewer) uncounted(b *brakes, tenant string, err error, now time.Time) {
	b.again = now.Add(evictPeriod)
	r.plane.cfg.Logger.Error("what was evicted cannot be counted", "tenant", tenant, "err", err)
}

// count is what a policy has evicted, and how many it may before it is confirmed: a
// part of the pods that it judges now, and of those that it judged when it began.
func (r *reviewer) count(f *forces, s *rollout.Set, p *eval.Policy, now time.Time) (c state.EvictionCount, may int) {
	judged := r.judged(f, p)
	known := r.brakes[s.Eval.Tenant].of(s, p, now)
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
func (r *reviewer) spent(f *forces, s *rollout.Set, p *eval.Policy, now time.Time) bool {
	c, may := r.count(f, s, p, now)
	return !c.Confirmed && c.Evicted >= may
}

// allowed is how many pods may be evicted before the policy is confirmed.
func allowed(of int) int { return max(1, of/evictPart) }
