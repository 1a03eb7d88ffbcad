package eval

import (
	"context"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/condition"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

const (

	// ConditionFuel is the fuel for one unit of a condition's cost, some 100 ns.
	ConditionFuel = 200
)

// All reports whether all conditions are true, and returns their cost in fuel. The error is
// a *abi.Failure, or the error of ctx if ctx ended in a pause.
func (t *Yielder) All(ctx context.Context, all []*condition.Condition, in *condition.Input) (hold bool, fuel int64, err error) {
	for _, c := range all {
		ok, cost, err := c.Matches(in)
		took := int64(cost) * ConditionFuel
		fuel += took
		if err != nil {
			err = &abi.Failure{Code: ConditionFailed, Err: err}
		}
		if ended := t.took(ctx, took); ended != nil {
			err = ended
		}
		if err != nil || !ok {
			return false, fuel, err
		}
	}
	return true, fuel, nil
}

// Yielder counts the fuel of a decision's conditions since the decision last yielded to
// another one. Most decisions never yield.
type Yielder int64

// took adds the cost of a condition, and yields once the sum is as large as a plugin's
// slice (wasm.TurnFuel). The error is the error of ctx, which may have ended in the pause.
func (t *Yielder) took(ctx context.Context, fuel int64) error {
	if *t += Yielder(fuel); int64(*t) < wasm.TurnFuel {
		return nil
	}
	wasm.TakeTurn(ctx, int64(*t))
	*t = 0
	return context.Cause(ctx)
}

// conditions returns the input of conditions: what plugins see, except references.
func (d *Decision) conditions() *condition.Input {
	if d.input == nil {
		r, q := d.Request, d.Request.Question
		d.input = condition.NewInput(condition.Request{
			Object: q.Pod, OldObject: q.Old, Hook: d.Hook, Operation: string(q.Op), Source: q.Origin.Source, Kind: r.Kind,
			Document: q.Origin.Document, Replaces: string(q.Replaces), Tenant: r.Tenant, Node: d.Node, Time: r.Time,
			ClockSynchronized: r.ClockSynchronized, Changed: r.Changed, Connection: q.Connection,
		})
	}
	return d.input
}

// wants reports whether the policy is asked: it has the hook, and matches. Conditions that
// cannot be evaluated are an error. fuel is the cost of the conditions; if the policy is
// not asked, it is added to d.Spent. If ctx has ended, the results mean nothing.
func (p *Policy) wants(ctx context.Context, d *Decision) (asked bool, fuel int64, err error) {
	r := d.Request
	if !p.Has(d.Hook) || d.isReview() && !p.Reviews() && !p.Reviewed || !p.Match.Matches(r.Question, r.Kind) {
		return false, 0, nil
	}
	if len(p.Match.Compiled) == 0 {
		return true, 0, nil
	}
	asked, fuel, err = d.turn.All(ctx, p.Match.Compiled, d.conditions())
	if !asked && err == nil {
		d.Spent += fuel
	}
	return asked || err != nil, fuel, err
}

// WantsContest does the same as wants for the hook merge: the conditions must be true for
// one of the candidates that match.
func (p *Policy) WantsContest(ctx context.Context, m *Conflict, node string) (asked bool, fuel int64, err error) {
	if !p.Has(api.HookMerge) {
		return false, 0, nil
	}
	for i := range m.Candidates {
		c := &m.Candidates[i]
		if !p.Match.MatchesCandidate(c) {
			continue
		}
		if len(p.Match.Compiled) == 0 {
			return true, fuel, nil
		}
		ok, took, err := m.turn.All(ctx, p.Match.Compiled, condition.NewInput(condition.Request{
			Object: c.Pod, OldObject: m.Current, Hook: api.HookMerge, Source: c.Origin.Source, Kind: c.Kind, Document: c.Origin.Document,
			Tenant: m.Tenant, Node: node, Time: m.Time, ClockSynchronized: m.ClockSynchronized,
		}))
		fuel += took
		if ok || err != nil {
			return true, fuel, err
		}
	}
	return false, fuel, nil
}
