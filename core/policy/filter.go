package policy

import (
	"context"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/rollout"
	"github.com/wardlet/wardlet/core/policy/sched"
)

// Filter asks whether an update may be applied now, and returns at once. answer is called
// once, later, from a goroutine of the engine; it is not called if Run returns before.
func (p *Engine) Filter(q api.FilterQuestion, answer func(api.FilterVerdict)) {
	tenant := p.cfg.tenant(q.Pod.Namespace)
	submit(p, subject{hook: api.HookFilter, uid: q.Pod.UID}, tenant, answer, func(ctx context.Context, at *sched.CurrentPolicy, answer func(api.FilterVerdict), later postpone) (int64, bool) {
		return p.filter(ctx, &q, tenant, answer, later, at)
	})
}

// FilterChanged returns a channel that receives a value when the policies in force with the
// hook filter have changed.
func (p *Engine) FilterChanged() <-chan struct{} { return p.filtersChanged }

// filter answers one question about an update, unless ctx ends before, and returns the
// cost in fuel. It may postpone the question instead. Without a set an update passes.
func (p *Engine) filter(
	ctx context.Context, q *api.FilterQuestion, tenant string, answer func(api.FilterVerdict), later postpone, at *sched.CurrentPolicy,
) (fuel int64, goOn bool) {
	now := p.cfg.Now()
	if wait := p.budgets.Wait(tenant, now); wait > 0 {
		v := api.FilterVerdict{Answer: api.Defer, At: now, After: wait, Limit: p.terms.Load().MaxSuppress}
		v.Reason, v.Message = sched.Exhausted(tenant)
		answer(v)
		return 0, true
	}
	sets, lacking, _ := p.setsFor(tenant)
	defer sets.Release()
	asked := &api.Question{Op: q.Op, Pod: q.Pod, Old: q.Old, Replaces: q.Replaces, Origin: q.Origin}
	v := api.FilterVerdict{Answer: api.Pass, At: now}
	d := p.decision(api.HookFilter, asked, p.request(asked, tenant, now), at)
	if lacking == nil {
		v = eval.Filter(ctx, sets.Eval(), d, p.terms.Load().maxSuppress)
	}
	if ctx.Err() != nil {
		return 0, false
	}
	if d.Effects.PutOff > 0 {
		sets.Reset(ctx)
		later(d.Effects.PutOff, d.Effects.PutOffReason)
		return d.Spent + fuelOf(v.Opinions), true
	}
	rollout.Observe(sets, tenant, v.Opinions, now)
	if len(v.Opinions) > 0 {
		p.recordFilter(d, sets.Eval(), &v, func() { answer(v) })
	} else {
		answer(v)
	}
	sets.Reset(ctx)
	p.shadows(sets, d, v.Opinions)
	return d.Spent + fuelOf(v.Opinions), true
}

// recordFilter records the answer about an update, and then answers.
func (p *Engine) recordFilter(d *eval.Decision, sets []*eval.Set, v *api.FilterVerdict, answer func()) {
	p.record(d, sets, eval.FilterVerdict(v), false, answer)
}
