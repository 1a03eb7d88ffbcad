package policy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/rollout"
)

// act evicts what is due.
func (r *reviewer) act(ctx context.Context, f *forces) {
	now := r.plane.cfg.Now()
	for _, o := range r.plane.owners {
		s := f.sets[o.Tenant]
		if s == nil {
			continue
		}
		r.retire(s, now)
		if !s.Reviews() {
			continue
		}
		for _, p := range s.Eval.Policies {
			if p.Evicts() {
				r.evict(ctx, f, s, p, now)
			}
		}
	}
	for _, rv := range r.pods {
		rv.fresh = false
	}
}

// evict ends one pod for a policy, if it is time for that. The pod is judged once more
// before.
func (r *reviewer) evict(ctx context.Context, f *forces, s *rollout.Set, p *eval.Policy, now time.Time) {
	due := r.due(f, p)
	if len(due) == 0 {
		return
	}
	r.adopt(f, s, p, now)
	i := slices.IndexFunc(due, func(rv *review) bool { return r.hinders(rv, p, now) == nil })
	if i < 0 {
		return
	}
	if why, next := r.waits(f, s, p, now); why != "" || next.After(now) {
		return
	}
	rv := due[i]
	if !rv.fresh && !rv.isRejected(p) {
		rv.asking, rv.recheck = true, true
		r.pending[rv.tenant] = append([]*review{rv}, r.pending[rv.tenant]...)
		return
	}
	b := r.brakes[s.Eval.Tenant]
	log := r.plane.cfg.Logger.With("pod", rv.Pod.Namespace+"/"+rv.Pod.Name, "uid", rv.Pod.UID, "policy", p.Name, "tenant", p.Tenant)
	if err := b.evict(s, p, r.judged(f, p), now); err != nil {
		b.again = now.Add(evictPeriod)
		log.Error("a pod is not evicted: it could not be counted", "err", err)
		return
	}
	v := api.Verdict{
		Answer: api.Deny, Reason: api.ReasonPolicyEvicted, Message: p.Called() + ": " + rv.denial(p).Said(), Policy: p.Name, Tenant: p.Tenant,
		Sets: strings.Fields(rv.sets), Opinions: rv.said(), At: now,
	}
	if rv.isRejected(p) {
		v.Reason = api.ReasonConflictRejected
	}
	if err := r.running.Evict(ctx, rv.Pod, v); err != nil {
		rv.refuse(err, now)
		if ctx.Err() != nil {
			return // it may have been: it counts
		}
		log.Warn("a pod is not evicted", "err", err)
		if err := b.giveBack(s, p, now); err != nil {
			log.Warn("a pod that was not evicted counts as evicted", "err", err)
		}
		return
	}
	log.Warn("pod is evicted: a policy that has changed does not admit it any more", "evicted", b.of(s, p, now).Evicted, "of", b.of(s, p, now).Of)
	r.drop(rv)
}

// due are the pods that the policy is to evict, in that order: of the lowest priority
// first, and last those that could not be evicted.
func (r *reviewer) due(f *forces, p *eval.Policy) (due []*review) {
	for _, rv := range r.pods {
		if rv.sets == f.of(rv.tenant).key && rv.denial(p) != nil && !r.exempt(rv) {
			due = append(due, rv)
		}
	}
	slices.SortFunc(due, func(a, b *review) int {
		return cmp.Or(cmp.Compare(a.refused, b.refused), cmp.Compare(a.priority(), b.priority()), byName(a, b))
	})
	return due
}

// waits says what a policy waits for that is to evict a pod, and where that is only
// time until when.
func (r *reviewer) waits(f *forces, s *rollout.Set, p *eval.Policy, now time.Time) (why string, next time.Time) {
	b := r.brakes[s.Eval.Tenant]
	b.load()
	switch {
	case b.unread || b.fault != nil && b.again.After(now):
		return fmt.Sprintf("until it can be counted, which is tried again: %v", b.fault), time.Time{}
	case s.Probation.HasFailed():
		return "for a set that does not fail: this one has, on its probation; mend it, or try it again with " + p.Command("retry"), time.Time{}
	case r.spent(f, s, p, now):
		return "for " + p.Confirmation(), time.Time{}
	case !s.Probation.Bears(now):
		return "until the set has proved itself on its probation", time.Time{}
	case r.unjudged(f, p.Tenant) > 0:
		return "until all pods are judged", time.Time{}
	}
	return "", b.next(s, p, now)
}

// unjudged are the pods that the policies of an owner have yet to judge, but for those
// that wait for themselves: their tenant has spent its budget, or has no policies yet.
func (r *reviewer) unjudged(f *forces, owner string) (n int) {
	for _, rv := range r.pods {
		if (owner == "" || rv.tenant == owner) && (rv.recheck || rv.sets != f.of(rv.tenant).key) && !r.lacks(rv.tenant) && r.plane.ready(rv.tenant) {
			n++
		}
	}
	return n
}

// judged is how many pods that run a policy has judged.
func (r *reviewer) judged(f *forces, p *eval.Policy) (n int) {
	for _, rv := range r.pods {
		if o := rv.opinion(p); o != nil && o.Reason != api.ReasonException && rv.sets == f.of(rv.tenant).key {
			n++
		}
	}
	return n
}

func (r *reviewer) exempt(rv *review) bool {
	q := rv.question()
	return r.plane.exempt(&q, eval.NamesOf(&q, r.plane.cfg.Node))
}

func (rv *review) priority() int32 {
	if p := rv.Pod.Spec.Priority; p != nil {
		return *p
	}
	return 0
}

// opinion is what a policy said of the pod, or of the conflict in which it stands; nil
// where it was not asked.
func (rv *review) opinion(p *eval.Policy) *eval.PolicyResult {
	if rv.isRejected(p) {
		return &eval.PolicyResult{Opinion: *rv.rejection}
	}
	i := slices.IndexFunc(rv.opinions, func(o api.Opinion) bool { return o.Policy == p.Name && o.Tenant == p.Tenant && o.Mode == "" })
	if i < 0 {
		return nil
	}
	return &eval.PolicyResult{Opinion: rv.opinions[i]}
}

// denial is a policy's opinion where its plugin itself denies the pod, else nil.
func (rv *review) denial(p *eval.Policy) *eval.PolicyResult {
	if o := rv.opinion(p); o != nil && o.Answer == api.Deny && o.Failure == "" {
		return o
	}
	return nil
}
