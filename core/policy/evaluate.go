package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/rollout"
	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// evaluate is one evaluator: it takes questions and answers them until ctx ends. A decision
// that the end of ctx has interrupted has no verdict.
func (p *Engine) evaluate(ctx context.Context, at *sched.CurrentPolicy) {
	for {
		t, ok := p.queue.Take()
		if !ok {
			return
		}
		turns := wasm.WithTurns(ctx, func(fuel int64) { p.queue.Yield(&t, fuel) })
		fuel, goOn := t.Decide(turns, at)
		if !goOn {
			return
		}
		// First, or the tenant's next question could be taken before this one is paid.
		p.budgets.Spend(t.Tenant, fuel, p.cfg.Now())
		p.queue.Done(&t, fuel)
	}
}

// judge answers one question, unless ctx ends before, and returns the cost in fuel. It
// may postpone the question instead. Plugins are reset after the answer.
func (p *Engine) judge(ctx context.Context, q *api.Question, tenant string, answer func(api.Verdict), later postpone, at *sched.CurrentPolicy) (fuel int64, goOn bool) {
	now := p.cfg.Now()
	if pod.IsMirror(q.Pod) {
		answer(api.Verdict{Answer: api.Allow, At: now})
		return 0, true
	}
	var v api.Verdict
	if wait := p.budgets.Wait(tenant, now); wait > 0 && !p.exempt(q, eval.NamesOf(q, p.cfg.Node)) {
		// This is not recorded: a tenant without fuel writes nothing.
		v := api.Verdict{Answer: api.Hold, At: now, RetryAfter: wait}
		v.Reason, v.Message = sched.Exhausted(tenant)
		answer(v)
		return 0, true
	}
	sets, lacking, reason := p.setsFor(tenant)
	defer sets.Release()
	d := p.decision(api.HookAdmit, q, p.request(q, tenant, now), at)
	paced := false
	switch {
	case lacking == nil:
		v = p.decideUntilCurrent(ctx, sets.Eval(), d)
		if d.Effects.PutOff > 0 && ctx.Err() == nil {
			sets.Reset(ctx)
			later(d.Effects.PutOff, d.Effects.PutOffReason)
			return d.Spent + fuelOf(v.Opinions), true
		}
		if d.Request.Kind == api.KindAPI && !p.terms.Load().DenyAtOnce {
			judged := v.Answer
			v = p.pacing.Pace(q, v, now)
			paced = v.Answer != judged
		}
	case d.Exempt:
		v = notReady(lacking.Dir, reason, now)
		v.Answer, v.Message = api.Allow, v.Message+"; the pod is exempt and passes"
		p.cfg.Logger.Warn("policies are not ready, but the pod is exempt and passes", "pod", d.Names[0], "directory", lacking.Dir)
	default:
		v = notReady(lacking.Dir, reason, now)
	}
	if ctx.Err() != nil {
		return 0, false
	}
	rollout.Observe(sets, tenant, v.Opinions, now)
	p.watchers.add(&v)
	p.record(d, sets.Eval(), &v, paced, func() { answer(v) })
	sets.Reset(ctx)
	p.shadows(sets, d, v.Opinions)
	return d.Spent + fuelOf(v.Opinions), true
}

// mostTries is the number of attempts after which other decisions wait for this one.
const mostTries = 3

// decideUntilCurrent repeats a decision until the node is still as the decision saw it,
// also with the pods that were admitted in the meantime. After mostTries attempts other
// decisions wait for this one.
func (p *Engine) decideUntilCurrent(ctx context.Context, sets []*eval.Set, d *eval.Decision) api.Verdict {
	for try := 1; ; try++ {
		d.Fallback = p.terms.Load().DefaultVerdict
		v := eval.Judge(ctx, sets, d, d.Fallback)
		v.ReadsNode = d.Seen != nil
		if ctx.Err() != nil || d.Effects.PutOff > 0 || p.nodeView.reserveIfCurrent(ctx, d, &v) {
			return v
		}
		d.Spent += fuelOf(v.Opinions)
		if try == mostTries {
			// The decision does not pause either: it could wait for the slot of a decision
			// that waits for it.
			ctx = wasm.WithTurns(ctx, nil)
			defer p.nodeView.release(d)
		}
		if try >= mostTries {
			p.nodeView.acquire(ctx, d)
		}
		d.Seen = nil
	}
}

// fuelOf returns the total fuel of opinions.
func fuelOf(opinions []api.Opinion) (fuel int64) {
	for i := range opinions {
		fuel += opinions[i].Fuel
	}
	return fuel
}

// setsFor returns the sets that judge the pods of a tenant, in the order they are asked:
// its own, then the operator's. The caller releases them. lacking is an owner without a set
// in force, nil for none. reason says why, if that is known.
func (p *Engine) setsFor(tenant string) (sets rollout.Sets, lacking *rollout.Owner, reason error) {
	for _, o := range slices.Backward(p.owners) {
		if !o.Judges(tenant) {
			continue
		}
		s, err := o.Use()
		if s == nil {
			return sets, o, err
		}
		sets = append(sets, s)
	}
	return sets, nil, nil
}

// notReady returns the verdict of a pod while an owner has no set in force.
func notReady(dir string, reason error, now time.Time) api.Verdict {
	first, more, _ := strings.Cut(reason.Error(), "\n")
	if more != "" {
		first += fmt.Sprintf(" (and %d more)", strings.Count(more, "\n")+1)
	}
	return api.Verdict{
		Answer: api.Hold, Reason: api.ReasonPoliciesNotReady, At: now,
		Message: fmt.Sprintf("no policies of %s are in force yet: %s", dir, first),
	}
}
