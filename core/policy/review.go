package policy

import (
	"context"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/review"
	"github.com/wardlet/wardlet/core/policy/rollout"
	"github.com/wardlet/wardlet/core/policy/sched"
)

// review asks the policies in force that judge running pods about one of them, and returns
// the cost in fuel. An owner without a set has no opinion. If the tenant has spent its
// budget, the question is postponed.
func (p *Engine) review(
	ctx context.Context, run *review.RunningPod, tenant string, answer func(api.Verdict), later postpone, at *sched.CurrentPolicy,
) (fuel int64, goOn bool) {
	now := p.cfg.Now()
	q := run.Question()
	if !p.exempt(&q, eval.NamesOf(&q, p.cfg.Node)) {
		if wait := p.budgets.WaitReview(tenant, now); wait > 0 {
			_, why := sched.Exhausted(tenant)
			later(wait, why)
			return 0, true
		}
	}
	sets := p.inForce(tenant)
	defer sets.Release()
	d := p.decision(api.HookAdmit, &q, p.request(&q, tenant, now), at)
	d.Fallback = api.Allow
	v := eval.Judge(ctx, sets.Eval(), d, d.Fallback)
	v.ReadsNode = d.Seen != nil
	if ctx.Err() != nil {
		return 0, false
	}
	rollout.Observe(sets, tenant, v.Opinions, now)
	if len(v.Opinions) > 0 {
		p.record(d, sets.Eval(), &v, false, func() { answer(v) })
	} else {
		answer(v)
	}
	sets.Reset(ctx)
	return d.Spent + fuelOf(v.Opinions), true
}

// inForce returns the sets in force that judge the pods of a tenant, in the order they
// are asked. The caller releases them.
func (p *Engine) inForce(tenant string) (sets rollout.Sets) {
	for _, o := range slices.Backward(p.owners) {
		if !o.Judges(tenant) {
			continue
		}
		if s, _ := o.Use(); s != nil {
			sets = append(sets, s)
		}
	}
	return sets
}

// Confirm lets a policy in force evict all pods that it denies, at its pace, until its
// content changes. If sha256 is not empty, the digest of the policy's module or document
// must begin with it. It returns the state of the set.
func (p *Engine) Confirm(ctx context.Context, tenant, policy, sha256 string) (api.PolicySet, error) {
	i := slices.IndexFunc(p.owners, func(o *rollout.Owner) bool { return o.Tenant == tenant })
	if i < 0 {
		return api.PolicySet{}, lacksPolicies(tenant)
	}
	if p.reviewer == nil {
		return api.PolicySet{}, errNoReviews
	}
	err := p.reviewer.Confirm(ctx, tenant, policy, sha256)
	if ctx.Err() != nil {
		return api.PolicySet{}, context.Cause(ctx)
	}
	shown := p.owners[i].Show()
	p.reviewer.Show(&shown)
	return shown, err
}

// reviewerEngine is the engine for its reviewer.
type reviewerEngine struct{ *Engine }

// TenantOf returns the name of the tenant that owns a namespace, empty for the operator.
func (p reviewerEngine) TenantOf(namespace string) string { return p.cfg.tenant(namespace) }

// IsExempt reports whether a pod is one of those that must be able to start.
func (p reviewerEngine) IsExempt(q *api.Question) bool {
	return p.exempt(q, eval.NamesOf(q, p.cfg.Node))
}

// IsReady reports whether each set that judges the pods of a tenant was tried.
func (p reviewerEngine) IsReady(tenant string) bool { return p.ready(tenant) }

// IsBehind reports whether too many decisions about a tenant's pods wait for the disk.
func (p reviewerEngine) IsBehind(tenant string) bool { return p.recorder.Behind(tenant) }

// Review asks the policies in force that judge running pods about one of them.
func (p reviewerEngine) Review(run review.RunningPod, tenant string, answer func(api.Verdict), putOff func()) {
	of := subject{hook: string(api.Review), uid: run.Pod.UID}
	submit(p.Engine, of, tenant, answer, func(ctx context.Context, at *sched.CurrentPolicy, answer func(api.Verdict), later postpone) (int64, bool) {
		return p.review(ctx, &run, tenant, answer, func(wait time.Duration, why string) {
			putOff()
			later(wait, why)
		}, at)
	})
}

// Present returns the pods on the node, each in its version; nil if they are not known.
func (p reviewerEngine) Present() map[types.UID]*v1.Pod {
	if p.nodeView.node == nil {
		return nil
	}
	return p.nodeView.present()
}

// HasChanged reports whether policies that saw these references of a pod would see other
// content now.
func (p reviewerEngine) HasChanged(by *v1.Pod, seen []api.SeenReference) bool {
	return p.cfg.References != nil && p.outdated(by, seen)
}
