package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/backoff"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/rollout"
	"github.com/wardlet/wardlet/core/policy/sched"
)

// act evicts pods that are due.
func (r *Reviewer) act(ctx context.Context, f *effectiveSets) {
	now := r.cfg.Now()
	for _, o := range r.cfg.Owners {
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

// evict evicts one pod for a policy, if it is time for that. The pod is judged again just
// before.
func (r *Reviewer) evict(ctx context.Context, f *effectiveSets, s *rollout.Set, p *eval.Policy, now time.Time) {
	due := r.due(f, p)
	if len(due) == 0 {
		return
	}
	r.adopt(f, s, p, now)
	i := slices.IndexFunc(due, func(rv *reviewedPod) bool { return r.blockedBy(rv, p, now) == nil })
	if i < 0 {
		return
	}
	if why, next := r.waits(f, s, p, now); why != "" || next.After(now) {
		return
	}
	rv := due[i]
	if !rv.fresh && !rv.isRejected(p) {
		rv.asking, rv.recheck = true, true
		r.pending[rv.tenant] = append([]*reviewedPod{rv}, r.pending[rv.tenant]...)
		return
	}
	b := r.limiters[s.Eval.Tenant]
	log := r.cfg.Logger.With("pod", rv.Pod.Namespace+"/"+rv.Pod.Name, "uid", rv.Pod.UID, "policy", p.Name, "tenant", p.Tenant)
	if err := b.evict(s, p, r.judged(f, p), now); err != nil {
		b.again = now.Add(EvictPeriod)
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
			return // the pod may have been evicted, so it stays counted
		}
		log.Warn("a pod is not evicted", "err", err)
		if err := b.giveBack(s, p, now); err != nil {
			log.Warn("a pod that was not evicted counts as evicted", "err", err)
		}
		return
	}
	log.Warn("pod is evicted: a policy that has changed does not admit it any more", "evicted", b.of(s, p, now).Evicted, "of", b.of(s, p, now).Of)
	r.removePod(rv)
}

// due returns the pods that the policy is to evict, the lowest priority first. Pods that
// could not be evicted before come last.
func (r *Reviewer) due(f *effectiveSets, p *eval.Policy) (due []*reviewedPod) {
	for _, rv := range r.pods {
		if rv.sets == f.of(rv.tenant).key && rv.denial(p) != nil && !r.exempt(rv) {
			due = append(due, rv)
		}
	}
	slices.SortFunc(due, func(a, b *reviewedPod) int {
		return cmp.Or(cmp.Compare(a.refused, b.refused), cmp.Compare(a.priority(), b.priority()), byName(a, b))
	})
	return due
}

// waits returns what the evictions of a policy wait for. If that is only time, why is empty
// and next is the time of the next eviction.
func (r *Reviewer) waits(f *effectiveSets, s *rollout.Set, p *eval.Policy, now time.Time) (why string, next time.Time) {
	b := r.limiters[s.Eval.Tenant]
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

// unjudged returns how many pods the policies of an owner have yet to judge. Pods whose
// tenant has spent its budget, or has no policies yet, do not count.
func (r *Reviewer) unjudged(f *effectiveSets, owner string) (n int) {
	for _, rv := range r.pods {
		if (owner == "" || rv.tenant == owner) && (rv.recheck || rv.sets != f.of(rv.tenant).key) && !r.isOutOfBudget(rv.tenant) && r.cfg.Engine.IsReady(rv.tenant) {
			n++
		}
	}
	return n
}

// judged returns how many running pods a policy has judged.
func (r *Reviewer) judged(f *effectiveSets, p *eval.Policy) (n int) {
	for _, rv := range r.pods {
		if o := rv.opinion(p); o != nil && o.Reason != api.ReasonException && rv.sets == f.of(rv.tenant).key {
			n++
		}
	}
	return n
}

func (r *Reviewer) exempt(rv *reviewedPod) bool {
	q := rv.Question()
	return r.cfg.Engine.IsExempt(&q)
}

func (rv *reviewedPod) priority() int32 {
	if p := rv.Pod.Spec.Priority; p != nil {
		return *p
	}
	return 0
}

// opinion returns a policy's opinion about the pod, or about its conflict; nil if the
// policy was not asked.
func (rv *reviewedPod) opinion(p *eval.Policy) *eval.PolicyResult {
	if rv.isRejected(p) {
		return &eval.PolicyResult{Opinion: *rv.rejection}
	}
	i := slices.IndexFunc(rv.opinions, func(o api.Opinion) bool { return o.Policy == p.Name && o.Tenant == p.Tenant && o.Mode == "" })
	if i < 0 {
		return nil
	}
	return &eval.PolicyResult{Opinion: rv.opinions[i]}
}

// denial returns a policy's opinion if its plugin itself denies the pod, else nil.
func (rv *reviewedPod) denial(p *eval.Policy) *eval.PolicyResult {
	if o := rv.opinion(p); o != nil && o.Answer == api.Deny && o.Failure == "" {
		return o
	}
	return nil
}

// refusedDelays are the delays before the eviction of a pod that could not be evicted is
// tried again.
var refusedDelays = backoff.Exponential{Min: EvictPeriod, Max: 5 * time.Minute}

// errIsAsked says why a pod is not evicted just now.
var errIsAsked = errors.New("it is being judged once more")

// blockedBy returns why a pod cannot be evicted now, nil if it can. Other pods are evicted
// in the meantime.
func (r *Reviewer) blockedBy(rv *reviewedPod, p *eval.Policy, now time.Time) error {
	switch {
	case rv.leftUntil.After(now):
		return fmt.Errorf("pod %s/%s could not be evicted: %w", rv.Pod.Namespace, rv.Pod.Name, rv.refusal)
	case rv.fresh || rv.isRejected(p):
		return nil
	case r.isOutOfBudget(rv.tenant):
		_, why := sched.Exhausted(rv.tenant)
		return errors.New(why)
	case !r.cfg.Engine.IsReady(rv.tenant):
		return fmt.Errorf("the policies of tenant %q are being loaded", rv.tenant)
	case rv.asking:
		return errIsAsked
	}
	return nil
}

// allBlockedBy returns why no pod of a policy can be evicted, empty if one can.
func (r *Reviewer) allBlockedBy(due []*reviewedPod, p *eval.Policy, now time.Time) (why string) {
	for _, rv := range due {
		err := r.blockedBy(rv, p, now)
		if err == nil || errors.Is(err, errIsAsked) {
			return ""
		}
		if why == "" {
			why = "as " + err.Error()
		}
	}
	return why
}

// refuse delays the next attempt to evict a pod that could not be evicted, each time for
// longer.
func (rv *reviewedPod) refuse(why error, now time.Time) {
	rv.leftUntil = now.Add(refusedDelays.Delay(rv.refused))
	rv.refused, rv.refusal = rv.refused+1, why
}
