package policy

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

// What a policy may name as the time to look again lies between these.
const (
	minRetryAfter = time.Second
	maxRetryAfter = 10 * time.Minute
)

// strongest first; what is not in it has no weight.
var strongest = []api.Answer{api.Deny, api.Hold, api.Allow}

// judge asks every policy of the sets that matches, in order, and gives their
// verdict together: first those that may change the pod, each as the ones before
// have left it, then all others about what has come of it. fallback is the answer
// where none has an opinion. It ends early, with a verdict that means nothing,
// when ctx does, or the question is put off.
func judge(ctx context.Context, sets []*set, d *decision, fallback api.Answer) api.Verdict {
	defer d.at.Leave()
	asked := d.request.Question
	d.mutation, d.shadowed, d.made = nil, nil, nil
	d.references.seen, d.lacking = nil, nil
	d.met.begin()
	var opinions []opinion
	for _, mutators := range []bool{true, false} {
		for _, s := range sets {
			opinions = s.consult(ctx, d, mutators, opinions)
		}
	}
	if ctx.Err() == nil && d.met.putOff == 0 {
		for _, s := range sets {
			opinions = s.unite(d, opinions)
		}
	}
	v := aggregate(d.hook, opinions, fallback)
	for _, s := range sets {
		v.Sets = append(v.Sets, s.named())
	}
	v.At, v.References = d.request.Time, d.readReferences(v.Opinions)
	if d.mutation != nil {
		d.ask(asked)
		if v.Answer == api.Allow {
			v.Mutation = d.mutation
		}
	}
	return v
}

// consult appends the opinions of the set's policies: of those that may change
// the pod, or of the others.
func (s *set) consult(ctx context.Context, d *decision, mutators bool, opinions []opinion) []opinion {
	for _, p := range s.policies {
		if p.mutates() != mutators || d.met.putOff > 0 {
			continue
		}
		d.shadow(s, p, 0)
		asked, fuel, err := p.wants(ctx, d)
		if ctx.Err() != nil {
			break
		}
		if !asked {
			continue
		}
		d.at.Enter(p.Name)
		o := p.consult(ctx, d, err)
		if d.met.putOff > 0 {
			d.spent += fuel
			break
		}
		d.waits(p, o.wait())
		o.Fuel += fuel
		o.Tenant = s.tenant
		o.Mode = p.counted()
		opinions = append(opinions, o)
	}
	return opinions
}

// aggregate lets the strongest answer decide, and of equal ones the first.
func aggregate(hook string, opinions []opinion, fallback api.Answer) api.Verdict {
	v := byDefault(fallback)
	for _, answer := range strongest {
		i := slices.IndexFunc(opinions, func(o opinion) bool { return o.Answer == answer && o.Mode == "" })
		if i >= 0 {
			v = opinions[i].decide(hook)
			break
		}
	}
	for i := range opinions {
		v.Opinions = append(v.Opinions, opinions[i].Opinion)
	}
	return v
}

func byDefault(fallback api.Answer) api.Verdict {
	if fallback == api.Allow {
		return api.Verdict{Answer: api.Allow}
	}
	return api.Verdict{
		Answer: fallback, Reason: api.ReasonDefaultVerdict,
		Message: fmt.Sprintf("no policy has an opinion, and policy.default_verdict is %s", fallback),
	}
}

// decide makes the opinion the verdict.
func (o *opinion) decide(hook string) api.Verdict {
	v := api.Verdict{Answer: o.Answer, Policy: o.Policy, Tenant: o.Tenant}
	if o.Answer == api.Allow && o.Failure == "" {
		return v
	}
	v.Reason = o.Reason
	name := called(o.Policy, o.Tenant)
	v.Message = name + ": " + o.Message
	switch {
	case o.Failure == string(referencesUnknown):
	case o.Failure != "" && hook == api.HookConnect:
		v.Message += failedConnection(o.Answer)
	case o.Failure != "" && o.Failure != api.FailureOfMember:
		v.Message += fmt.Sprintf(" (on_error is %s)", o.Answer)
	case o.Message == "":
		v.Message = name + " gives no message"
	}
	v.RetryAfter = o.wait()
	return v
}

// wait is after how long a hold is looked at again, 0 for no wish.
func (o *opinion) wait() time.Duration {
	if o.Answer != api.Hold || o.retryAfter == 0 {
		return 0
	}
	return min(max(o.retryAfter, minRetryAfter), maxRetryAfter)
}
