package policy

import (
	"context"
	"errors"
	"fmt"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// contest is a question to the hook merge, with the place that each of its
// candidates had in the contest.
type contest struct {
	*wasm.MergeRequest
	places []int
	// mutateAPI: policies may change pods of an API server.
	mutateAPI bool
	// extra is what calls cost beside their fuel.
	extra int64
	turn  turn
	// met is what policies met that is no function of what they were asked.
	met circumstances
	// id identifies it. decided: what the next policy says is only on record.
	id      func() questionID
	decided bool
	// made is what policies make of the winner.
	made making
}

// choose asks the policies in order, unless the contest is put off. The first that counts
// and has an opinion decides; where its plugin fails, what runs goes on.
func choose(ctx context.Context, sets []*set, node string, m *contest, at *sched.CurrentPolicy) (decided api.Resolution, opinions []api.Opinion, spent int64) {
	defer at.Leave()
	decided.Choice = api.NoChoice
	for _, s := range sets {
		for _, policy := range s.policies {
			asked, fuel, err := policy.wantsContest(ctx, m, node)
			if ctx.Err() != nil {
				return decided, opinions, spent
			}
			spent += fuel
			if !asked {
				continue
			}
			at.Enter(policy.Name)
			o, r := policy.merge(ctx, m, err)
			if m.met.putOff > 0 {
				return decided, opinions, spent + m.extra
			}
			spent += o.Fuel
			o.Fuel += fuel
			opinions = append(opinions, o)
			if o.Mode == "" && decided.Choice == api.NoChoice {
				decided = r
				m.decided = r.Choice != api.NoChoice
			}
		}
	}
	return decided, opinions, spent + m.extra
}

// winnerPrefix begins an opinion that names a winner.
const winnerPrefix = string(wasm.MergeWinner) + " "

// winner is the answer of such an opinion.
func winner(document, source string) api.Answer {
	return api.Answer(fmt.Sprintf(winnerPrefix+"%s of %s", document, source))
}

// merge asks one policy, unless its conditions could not be told: err is why.
func (p *policy) merge(ctx context.Context, m *contest, err error) (api.Opinion, api.Resolution) {
	var got wasm.MergeResult
	var made *pod.Mutation
	if err == nil {
		err = m.met.bars(p, barred{m.Tenant, m.id, p.patience(api.HookMerge, m.decided), m.Time})
	}
	if m.met.putOff > 0 {
		return api.Opinion{}, api.Resolution{}
	}
	if err == nil {
		got, err = m.merge(ctx, p)
		m.extra += got.Extra
		if err == nil {
			made, err = p.base(m, &got)
		}
		if !m.met.repeated {
			code := codeOfCall(err)
			p.plugin.breakers.ended(ctx, m.Tenant, m.id, code, m.Time)
			if code == string(wasm.NotReady) && p.patience(api.HookMerge, m.decided) > 0 {
				m.met.putOff, m.met.why = minRetryAfter, err.Error() // an answer is kept
				return api.Opinion{}, api.Resolution{}
			}
		}
	}
	o := api.Opinion{Policy: p.Name, Tenant: p.tenant, Mode: p.counted()}
	r := api.Resolution{Choice: api.NoChoice, Policy: p.Name, Tenant: p.tenant, Message: got.Message}
	o.Reads, o.Patch = got.Reads, shownPatch(got.Patch)
	if err != nil {
		code, message, fuel := failureOf(err)
		o.Answer, o.Failure, o.Reason, o.Message, o.Fuel = api.Answer(wasm.MergeKeep), code, api.ReasonPolicyFailed, message, fuel
		r.Choice, r.Message = api.ChooseCurrent, message
		p.failedIn(ctx, &o, "what runs goes on")
		return o, r
	}
	o.Answer, o.Message, o.Fuel = api.Answer(got.Answer), got.Message, got.Fuel
	o.Warnings, o.Annotations, o.Explanation = got.Warnings, got.Annotations, got.Explanation
	if isReason(got.Reason) {
		o.Reason = got.Reason
	}
	switch got.Answer {
	case wasm.MergeWinner:
		r.Choice, r.Winner = api.ChooseWinner, m.places[got.Winner]
		won := &m.Candidates[got.Winner]
		o.Answer = winner(won.Origin.Document, won.Origin.Source)
		r.Mutation = made
	case wasm.MergeKeep:
		r.Choice = api.ChooseCurrent
	case wasm.MergeReject:
		r.Choice = api.ChooseNone
	}
	p.counts.count(&o)
	return o, r
}

// merge has a policy's plugin choose, unless it is on record that it gave no answer.
func (m *contest) merge(ctx context.Context, p *policy) (wasm.MergeResult, error) {
	if reads, err, ok := m.met.cutOff(p); ok {
		return wasm.MergeResult{Reads: reads}, err
	}
	got, err := p.plugin.plugin.Merge(ctx, m.MergeRequest)
	m.met.asked(p, err, got.Reads)
	return got, err
}

// mergeVerdict is what came of a contest as records have it.
func mergeVerdict(r *api.Resolution, opinions []api.Opinion) api.Verdict {
	return api.Verdict{
		Answer: api.Answer(r.Choice), Message: r.Message, Policy: r.Policy, Tenant: r.Tenant, Sets: r.Sets,
		Opinions: opinions, Mutation: r.Mutation.Shown(), At: r.At,
	}
}

// failedIn counts a failure and logs it, if it is another than the one before.
func (p *policy) failedIn(ctx context.Context, o *api.Opinion, instead string) {
	if ctx.Err() != nil {
		return
	}
	p.counts.count(o)
	if p.counts.fail(o.Message) {
		p.log.Warn("a plugin failed", "policy", p.Name, "failure", o.Message, "instead", instead)
	}
}

// failureOf is the code of a plugin's failure, what it says, and the fuel it
// took.
func failureOf(err error) (code, message string, fuel int64) {
	c, detail := wasm.HostError, err
	if failure, ok := errors.AsType[*wasm.Failure](err); ok {
		c, detail, fuel = failure.Code, failure.Err, failure.Fuel
	}
	if c == referencesUnknown {
		return string(c), spec.OneLine(detail.Error()), 0
	}
	what := "the plugin"
	if c == conditionFailed {
		what = "a condition"
	}
	message = fmt.Sprintf("%s failed with %s", what, c)
	if detail != nil {
		message += ": " + spec.OneLine(detail.Error())
	}
	return string(c), message, fuel
}
