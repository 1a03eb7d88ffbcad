package eval

import (
	"context"
	"fmt"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// filtered is the opinion of one policy about an update.
type filtered struct {
	api.Opinion
	after, limit time.Duration
}

// suppresses reports whether the opinion counts and holds the update back.
func (f *filtered) suppresses() bool {
	return f.Mode == "" && (f.Answer == api.Answer(api.Drop) || f.Answer == api.Answer(api.Defer))
}

// wait returns the delay before the update is applied or asked about again, if the opinion
// counts. most is how long the policy's owner may hold an update back.
func (f *filtered) wait(most time.Duration) time.Duration {
	limit := min(f.limit, most)
	switch f.Answer {
	case api.Answer(api.Defer):
		return min(max(f.after, minRetryAfter), limit)
	case api.Answer(api.Drop):
		return limit
	}
	return 0
}

// Filter asks every policy that matches, unless the question is put off. If one or more
// policies hold the update back, its limit is the longest time for which one of them may do
// so. The update is dropped if one policy drops it.
func Filter(ctx context.Context, sets []*Set, d *Decision, most func(tenant string) time.Duration) api.FilterVerdict {
	defer d.Current.Leave()
	d.Effects.begin()
	d.References.seen, d.missing = nil, nil
	v := api.FilterVerdict{Answer: api.Pass, At: d.Request.Time}
	for _, s := range sets {
		v.Sets = append(v.Sets, s.Name())
		for _, policy := range s.Policies {
			d.noteShadow(s, policy, most(s.Tenant))
			asked, fuel, err := policy.wants(ctx, d)
			if ctx.Err() != nil {
				return v
			}
			if !asked {
				continue
			}
			d.Current.Enter(policy.Name)
			f := policy.filter(ctx, d, err)
			if d.Effects.PutOff > 0 {
				d.Spent += fuel
				return v
			}
			d.noteWait(policy, f.wait(most(s.Tenant)))
			f.Fuel += fuel
			v.Opinions = append(v.Opinions, f.Opinion)
			if !f.suppresses() {
				continue
			}
			f.limit = min(f.limit, most(s.Tenant))
			v.Limit = max(v.Limit, f.limit)
			answer := api.FilterAnswer(f.Answer)
			if v.Answer == api.Pass || v.Answer == api.Defer && (answer == api.Drop || f.after > v.After) {
				v.Answer, v.After, v.Policy, v.Reason = answer, f.after, policy.Name, f.Reason
				v.Message = fmt.Sprintf("%s: %s", policy.Called(), f.Message)
			}
		}
	}
	return v
}

// filter asks one policy, unless its conditions could not be evaluated: err says why.
func (p *Policy) filter(ctx context.Context, d *Decision, err error) filtered {
	if o, ok := p.Excepted(d); ok {
		o.Tenant, o.Mode = p.Tenant, p.ShownMode()
		return filtered{Opinion: o.Opinion}
	}
	var got wasm.FilterResult
	if err == nil {
		err = d.prepare(p)
	}
	if d.Effects.PutOff > 0 {
		return filtered{}
	}
	if err == nil {
		got, err = d.filter(ctx, p)
		d.Spent += got.Extra
		if !d.Effects.Repeated {
			p.Plugin.Breakers.ended(ctx, d.Request.Tenant, d.Identity, codeOfCall(err), d.Request.Time)
		}
	}
	o := api.Opinion{Policy: p.Name, Tenant: p.Tenant, Mode: p.ShownMode()}
	o.Reads = got.Reads
	if err != nil {
		code, message, fuel := FailureOf(err)
		o.Answer, o.Failure, o.Reason, o.Message, o.Fuel = api.Answer(api.Pass), code, api.ReasonPolicyFailed, message, fuel
		if code == string(ReferencesUnknown) {
			o.Reason = api.ReasonReferencesUnknown
			p.Counters.count(&o)
			return filtered{Opinion: o}
		}
		p.failedIn(ctx, &o, "the update passes")
		return filtered{Opinion: o}
	}
	o.Answer, o.Reason, o.Message, o.Fuel = api.Answer(got.Answer), api.ReasonPolicySuppressed, got.Message, got.Fuel
	o.Warnings, o.Annotations, o.Explanation = got.Warnings, got.Annotations, got.Explanation
	switch {
	case isReason(got.Reason):
		o.Reason = got.Reason
	case got.Answer != wasm.FilterDrop && got.Answer != wasm.FilterDefer:
		o.Reason = ""
	}
	p.Counters.count(&o)
	return filtered{o, got.DeferFor, p.Limits.MaxSuppress}
}

// filter calls the plugin, unless a record says that the plugin returned no answer.
func (d *Decision) filter(ctx context.Context, p *Policy) (wasm.FilterResult, error) {
	if reads, err, ok := d.Effects.cutOff(p); ok {
		return wasm.FilterResult{Reads: reads}, err
	}
	got, err := p.Plugin.Plugin.Filter(ctx, d.Request)
	d.Effects.asked(p, err, got.Reads)
	return got, err
}

// FilterVerdict returns the answer about an update in the form of a recorded verdict.
func FilterVerdict(v *api.FilterVerdict) *api.Verdict {
	return &api.Verdict{
		Answer: api.Answer(v.Answer), Reason: v.Reason, Message: v.Message, Policy: v.Policy, RetryAfter: v.After,
		Sets: v.Sets, Opinions: v.Opinions, At: v.At,
	}
}
