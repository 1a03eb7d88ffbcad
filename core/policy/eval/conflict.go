package eval

import (
	"context"
	"fmt"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// Conflict is a question to the hook merge. Places are the indexes of its candidates in the
// api.Contest that it was made from.
type Conflict struct {
	*abi.MergeRequest
	Places []int
	// MutateAPI: policies may change pods of an API server.
	MutateAPI bool
	// Extra is the cost of calls beside their fuel.
	Extra int64
	turn  Yielder
	// Effects are the inputs that do not follow from the question.
	Effects HostEffects
	// ID returns the ID of the conflict. decided reports that a policy has decided: the
	// opinions of the next policies are only recorded.
	ID      func() QuestionID
	decided bool
	// Made has the hash of the winner as each policy changes it.
	Made making
}

// Choose asks the policies in order, unless the conflict is put off. The first policy that
// counts and has an opinion decides. If its plugin fails, the running pod stays.
func Choose(ctx context.Context, sets []*Set, node string, m *Conflict, at *sched.CurrentPolicy) (decided api.Resolution, opinions []api.Opinion, spent int64) {
	defer at.Leave()
	decided.Choice = api.NoChoice
	for _, s := range sets {
		for _, policy := range s.Policies {
			asked, fuel, err := policy.WantsContest(ctx, m, node)
			if ctx.Err() != nil {
				return decided, opinions, spent
			}
			spent += fuel
			if !asked {
				continue
			}
			at.Enter(policy.Name)
			o, r := policy.Merge(ctx, m, err)
			if m.Effects.PutOff > 0 {
				return decided, opinions, spent + m.Extra
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
	return decided, opinions, spent + m.Extra
}

// winnerPrefix begins an opinion that names a winner.
const winnerPrefix = string(wasm.MergeWinner) + " "

// Winner returns the answer of an opinion that names a winner.
func Winner(document, source string) api.Answer {
	return api.Answer(fmt.Sprintf(winnerPrefix+"%s of %s", document, source))
}

// Merge asks one policy, unless its conditions could not be evaluated: err says why.
func (p *Policy) Merge(ctx context.Context, m *Conflict, err error) (api.Opinion, api.Resolution) {
	var got wasm.MergeResult
	var made *pod.Mutation
	if err == nil {
		err = m.Effects.bars(p, breakerQuery{m.Tenant, m.ID, p.patience(api.HookMerge, m.decided), m.Time})
	}
	if m.Effects.PutOff > 0 {
		return api.Opinion{}, api.Resolution{}
	}
	if err == nil {
		got, err = m.merge(ctx, p)
		m.Extra += got.Extra
		if err == nil {
			made, err = p.base(m, &got)
		}
		if !m.Effects.Repeated {
			code := codeOfCall(err)
			p.Plugin.Breakers.ended(ctx, m.Tenant, m.ID, code, m.Time)
			if code == string(abi.NotReady) && p.patience(api.HookMerge, m.decided) > 0 {
				m.Effects.PutOff, m.Effects.PutOffReason = minRetryAfter, err.Error() // an answer is kept
				return api.Opinion{}, api.Resolution{}
			}
		}
	}
	o := api.Opinion{Policy: p.Name, Tenant: p.Tenant, Mode: p.ShownMode()}
	r := api.Resolution{Choice: api.NoChoice, Policy: p.Name, Tenant: p.Tenant, Message: got.Message}
	o.Reads, o.Patch = got.Reads, shownPatch(got.Patch)
	if err != nil {
		code, message, fuel := FailureOf(err)
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
		r.Choice, r.Winner = api.ChooseWinner, m.Places[got.Winner]
		won := &m.Candidates[got.Winner]
		o.Answer = Winner(won.Origin.Document, won.Origin.Source)
		r.Mutation = made
	case wasm.MergeKeep:
		r.Choice = api.ChooseCurrent
	case wasm.MergeReject:
		r.Choice = api.ChooseNone
	}
	p.Counters.count(&o)
	return o, r
}

// merge calls the plugin, unless a record says that the plugin returned no answer.
func (m *Conflict) merge(ctx context.Context, p *Policy) (wasm.MergeResult, error) {
	if reads, err, ok := m.Effects.cutOff(p); ok {
		return wasm.MergeResult{Reads: reads}, err
	}
	got, err := p.Plugin.Plugin.Merge(ctx, m.MergeRequest)
	m.Effects.asked(p, err, got.Reads)
	return got, err
}

// MergeVerdict returns the result of a contest in the form of a recorded verdict.
func MergeVerdict(r *api.Resolution, opinions []api.Opinion) api.Verdict {
	return api.Verdict{
		Answer: api.Answer(r.Choice), Message: r.Message, Policy: r.Policy, Tenant: r.Tenant, Sets: r.Sets,
		Opinions: opinions, Mutation: r.Mutation.Shown(), At: r.At,
	}
}

// failedIn counts a failure, and logs it if it differs from the one before.
func (p *Policy) failedIn(ctx context.Context, o *api.Opinion, instead string) {
	if ctx.Err() != nil {
		return
	}
	p.Counters.count(o)
	if p.Counters.fail(o.Message) {
		p.Log.Warn("a plugin failed", "policy", p.Name, "failure", o.Message, "instead", instead)
	}
}
