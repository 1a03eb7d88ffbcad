package policy

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// opinion is what one policy says.
type opinion struct {
	api.Opinion
	// retryAfter is when a hold wants to be looked at again, 0 for no wish.
	retryAfter time.Duration
}

// ask asks the policy's plugin, and changes the pod as that says. A failure of it
// is an opinion too.
func (p *policy) ask(ctx context.Context, d *decision) opinion {
	result, err := d.admit(ctx, p)
	d.spent += result.Extra
	if err != nil {
		o := p.failed(err)
		o.Reads = result.Reads
		return o
	}
	switch result.Answer {
	case api.Allow, api.Deny, api.Hold, api.Abstain:
	default:
		return p.failed(&wasm.Failure{Code: wasm.BadOutput, Err: fmt.Errorf("%q is no answer", string(result.Answer))})
	}
	o := opinion{
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

// admit has a policy's plugin judge, unless it is on record that it gave no answer.
func (d *decision) admit(ctx context.Context, p *policy) (wasm.Result, error) {
	if reads, err, ok := d.met.cutOff(p); ok {
		return wasm.Result{Reads: reads}, err
	}
	judge := p.plugin.plugin.Admit
	if d.hook == api.HookConnect {
		judge = p.plugin.plugin.Connect
	}
	result, err := judge(ctx, d.request)
	d.met.asked(p, err, result.Reads)
	return result, err
}

var codeForm = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,63}$`)

// agentReasons are those a plugin cannot give: they are the agent's own word.
var agentReasons = []string{
	api.ReasonPolicyFailed, api.ReasonPoliciesNotReady, api.ReasonDefaultVerdict, api.ReasonAdopted, api.ReasonBudgetExhausted,
	api.ReasonVerdictNotKept, api.ReasonException, api.ReasonPolicySuppressed, api.ReasonNotAnswered,
	api.ReasonReferencesUnknown, api.ReasonPolicyEvicted, api.ReasonConflictRejected, api.ReasonPolicyViolation,
}

// isReason reports whether a plugin's code can be a reason.
func isReason(code string) bool {
	return codeForm.MatchString(code) && !slices.Contains(agentReasons, code)
}

// reason is the plugin's code if it can be a reason, else that of the answer.
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

// excepted is the opinion of a policy about a pod that an exception takes out
// of it at the time of the decision; ok is false where none does.
func (p *policy) excepted(d *decision) (o opinion, ok bool) {
	e := p.exception(d.names, d.request.Time)
	if e == nil {
		return opinion{}, false
	}
	message := fmt.Sprintf(exceptedPrefix+"an exception of %s until %s", e.Owner, e.Until.Format(time.RFC3339))
	if e.Reason != "" {
		message += ": " + e.Reason
	}
	return opinion{Opinion: api.Opinion{Policy: p.Name, Answer: api.Abstain, Reason: api.ReasonException, Message: message}}, true
}

// exception is the one that takes a pod out of the policy at a time, nil for none.
func (p *policy) exception(names []string, at time.Time) *spec.Exception {
	for i := range p.Exceptions {
		if e := &p.Exceptions[i]; e.Covers(names) && at.Before(e.Until) {
			return e
		}
	}
	return nil
}

// exceptedPrefix begins the message of an opinion about a pod that an exception takes out.
const exceptedPrefix = "not asked: "
