package eval

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// maxRetryAfter is the longest delay that a policy can request before it is asked again.
const maxRetryAfter = 10 * time.Minute

// strongest lists the answers that decide, the strongest first.
var strongest = []api.Answer{api.Deny, api.Hold, api.Allow}

// Judge asks every policy of the sets that matches, in order, and returns their verdict:
// first those that may change the pod, each about the pod as the earlier ones changed it,
// then all others about the result. fallback is the answer if no policy has an opinion. If
// ctx ends, or the question is put off, it returns early, and the verdict means nothing.
func Judge(ctx context.Context, sets []*Set, d *Decision, fallback api.Answer) api.Verdict {
	defer d.Current.Leave()
	asked := d.Request.Question
	d.mutation, d.Shadowed, d.Made = nil, nil, nil
	d.References.seen, d.missing = nil, nil
	d.Effects.begin()
	var opinions []PolicyResult
	for _, mutators := range []bool{true, false} {
		for _, s := range sets {
			opinions = s.consult(ctx, d, mutators, opinions)
		}
	}
	if ctx.Err() == nil && d.Effects.PutOff == 0 {
		for _, s := range sets {
			opinions = s.combine(d, opinions)
		}
	}
	v := aggregate(d.Hook, opinions, fallback)
	for _, s := range sets {
		v.Sets = append(v.Sets, s.Name())
	}
	v.At, v.References = d.Request.Time, d.readReferences(v.Opinions)
	if d.mutation != nil {
		d.setQuestion(asked)
		if v.Answer == api.Allow {
			v.Mutation = d.mutation
		}
	}
	return v
}

// consult appends the opinions of the policies that may change the pod, or of all others.
func (s *Set) consult(ctx context.Context, d *Decision, mutators bool, opinions []PolicyResult) []PolicyResult {
	for _, p := range s.Policies {
		if p.mutates() != mutators || d.Effects.PutOff > 0 {
			continue
		}
		d.noteShadow(s, p, 0)
		asked, fuel, err := p.wants(ctx, d)
		if ctx.Err() != nil {
			break
		}
		if !asked {
			continue
		}
		d.Current.Enter(p.Name)
		o := p.consult(ctx, d, err)
		if d.Effects.PutOff > 0 {
			d.Spent += fuel
			break
		}
		d.noteWait(p, o.wait())
		o.Fuel += fuel
		o.Tenant = s.Tenant
		o.Mode = p.ShownMode()
		opinions = append(opinions, o)
	}
	return opinions
}

// aggregate returns the verdict: the strongest answer, and of equal ones the first.
func aggregate(hook string, opinions []PolicyResult, fallback api.Answer) api.Verdict {
	v := byDefault(fallback)
	for _, answer := range strongest {
		i := slices.IndexFunc(opinions, func(o PolicyResult) bool { return o.Answer == answer && o.Mode == "" })
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

// decide returns the verdict that follows from the opinion.
func (o *PolicyResult) decide(hook string) api.Verdict {
	v := api.Verdict{Answer: o.Answer, Policy: o.Policy, Tenant: o.Tenant}
	if o.Answer == api.Allow && o.Failure == "" {
		return v
	}
	v.Reason = o.Reason
	name := Called(o.Policy, o.Tenant)
	v.Message = name + ": " + o.Message
	switch {
	case o.Failure == string(ReferencesUnknown):
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

// wait returns the delay before a held pod is judged again, 0 if the policy does not say.
func (o *PolicyResult) wait() time.Duration {
	if o.Answer != api.Hold || o.retryAfter == 0 {
		return 0
	}
	return min(max(o.retryAfter, minRetryAfter), maxRetryAfter)
}

// PolicyResult is the opinion of one policy.
type PolicyResult struct {
	api.Opinion
	// retryAfter is the delay before a held pod is to be judged again, 0 if the policy does
	// not say.
	retryAfter time.Duration
}

// ask calls the policy's plugin and applies its patch. A failure is an opinion, too.
func (p *Policy) ask(ctx context.Context, d *Decision) PolicyResult {
	result, err := d.admit(ctx, p)
	d.Spent += result.Extra
	if err != nil {
		o := p.failed(err)
		o.Reads = result.Reads
		return o
	}
	switch result.Answer {
	case api.Allow, api.Deny, api.Hold, api.Abstain:
	default:
		return p.failed(&abi.Failure{Code: abi.BadOutput, Err: fmt.Errorf("%q is no answer", string(result.Answer))})
	}
	o := PolicyResult{
		Opinion: api.Opinion{
			Policy: p.Name, Answer: result.Answer, Fuel: result.Fuel,
			Reason: reason(result.Answer, result.Reason), Message: result.Message,
			Warnings: result.Warnings, Annotations: result.Annotations, Explanation: result.Explanation,
			Reads: result.Reads,
		},
		retryAfter: result.RetryAfter,
	}
	if result.Answer == api.Allow && len(result.Patch) > 0 {
		return p.propose(d, o, result.Patch)
	}
	return o
}

// admit calls the plugin, unless a record says that the plugin returned no answer.
func (d *Decision) admit(ctx context.Context, p *Policy) (wasm.Result, error) {
	if reads, err, ok := d.Effects.cutOff(p); ok {
		return wasm.Result{Reads: reads}, err
	}
	judge := p.Plugin.Plugin.Admit
	if d.Hook == api.HookConnect {
		judge = p.Plugin.Plugin.Connect
	}
	result, err := judge(ctx, d.Request)
	d.Effects.asked(p, err, result.Reads)
	return result, err
}

var codeForm = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,63}$`)

// agentReasons are reasons that a plugin cannot return: only the agent uses them.
var agentReasons = []string{
	api.ReasonPolicyFailed, api.ReasonPoliciesNotReady, api.ReasonDefaultVerdict, api.ReasonAdopted, api.ReasonBudgetExhausted,
	api.ReasonVerdictNotKept, api.ReasonException, api.ReasonPolicySuppressed, api.ReasonNotAnswered,
	api.ReasonReferencesUnknown, api.ReasonPolicyEvicted, api.ReasonConflictRejected, api.ReasonPolicyViolation,
}

// isReason reports whether a plugin's code is a valid reason.
func isReason(code string) bool {
	return codeForm.MatchString(code) && !slices.Contains(agentReasons, code)
}

// reason returns the plugin's code if it is a valid reason, else the default reason for the
// answer.
func reason(answer api.Answer, code string) string {
	if isReason(code) {
		return code
	}
	switch answer {
	case api.Deny:
		return api.ReasonPolicyDenied
	case api.Hold:
		return api.ReasonPolicyHeld
	}
	return ""
}

// Excepted returns the opinion about a pod that an exception exempts at the time of the
// decision; ok is false if none does.
func (p *Policy) Excepted(d *Decision) (o PolicyResult, ok bool) {
	e := p.Exception(d.Names, d.Request.Time)
	if e == nil {
		return PolicyResult{}, false
	}
	message := fmt.Sprintf(exceptedPrefix+"an exception of %s until %s", e.Owner, e.Until.Format(time.RFC3339))
	if e.Reason != "" {
		message += ": " + e.Reason
	}
	return PolicyResult{Opinion: api.Opinion{Policy: p.Name, Answer: api.Abstain, Reason: api.ReasonException, Message: message}}, true
}

// Exception returns the exception that exempts a pod with these names at a time, nil for
// none.
func (p *Policy) Exception(names []string, at time.Time) *spec.Exception {
	for i := range p.Exceptions {
		if e := &p.Exceptions[i]; e.Covers(names) && at.Before(e.Until) {
			return e
		}
	}
	return nil
}

// exceptedPrefix begins the message of an opinion about an exempted pod.
const exceptedPrefix = "not asked: "

// failed returns the opinion of a policy whose plugin failed, with the answer of on_error.
func (p *Policy) failed(err error) PolicyResult {
	code, message, fuel := FailureOf(err)
	return PolicyResult{Opinion: api.Opinion{
		Policy: p.Name, Answer: p.OnError, Failure: code, Reason: api.ReasonPolicyFailed, Message: message, Fuel: fuel,
	}}
}

// ConnectPatience is how long a question about a connection may be put off: a user waits for
// the answer.
const ConnectPatience = 10 * time.Second

// ConnectFailureAnswer returns the answer for a connection if the policy fails: on_error
// applies only to pods. A failure never locks out root on the local socket.
func ConnectFailureAnswer(c *api.Connection) api.Answer {
	if c != nil && c.ByLocalRoot() {
		return api.Allow
	}
	return api.Deny
}

// failedConnection explains the answer of a policy that failed.
func failedConnection(answer api.Answer) string {
	if answer == api.Allow {
		return " (root on the local socket passes where a policy fails)"
	}
	return " (connections are denied where a policy fails)"
}
