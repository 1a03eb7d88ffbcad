package policy

import (
	"context"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/rollout"
	"github.com/wardlet/wardlet/core/policy/sched"
)

// Connect decides whether a connection may be made, and returns at once. answer is called
// once, later, from a goroutine of the engine, with Allow or Deny; it is not called if Run
// returns before. If no policy has an opinion the answer is Allow.
func (p *Engine) Connect(q api.Question, answer func(api.Verdict)) {
	tenant := p.cfg.tenant(q.Pod.Namespace)
	submit(p, subject{hook: api.HookConnect, uid: q.Pod.UID}, tenant, answer, func(ctx context.Context, at *sched.CurrentPolicy, answer func(api.Verdict), later postpone) (int64, bool) {
		return p.connect(ctx, &q, tenant, answer, later, at)
	})
}

// connect answers one question about a connection. If no policy can be asked, because none
// is in force yet or the budget is spent, the answer is the same as if a policy fails.
func (p *Engine) connect(
	ctx context.Context, q *api.Question, tenant string, answer func(api.Verdict), later postpone, at *sched.CurrentPolicy,
) (fuel int64, goOn bool) {
	now := p.cfg.Now()
	if wait := p.budgets.Wait(tenant, now); wait > 0 {
		v := api.Verdict{Answer: eval.ConnectFailureAnswer(q.Connection), At: now}
		v.Reason, v.Message = sched.Exhausted(tenant)
		answer(v)
		return 0, true
	}
	sets, lacking, reason := p.setsFor(tenant)
	defer sets.Release()
	d := p.decision(api.HookConnect, q, p.request(q, tenant, now), at)
	d.Exempt, d.Fallback = false, api.Allow
	var v api.Verdict
	if lacking == nil {
		v = eval.Judge(ctx, sets.Eval(), d, d.Fallback)
		v.ReadsNode = d.Seen != nil
	} else {
		v = notReady(lacking.Dir, reason, now)
		v.Answer = eval.ConnectFailureAnswer(q.Connection)
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
	if len(v.Opinions) > 0 || lacking != nil {
		p.record(d, sets.Eval(), &v, false, func() { answer(v) })
	} else {
		answer(v)
	}
	sets.Reset(ctx)
	p.shadows(sets, d, v.Opinions)
	return d.Spent + fuelOf(v.Opinions), true
}
