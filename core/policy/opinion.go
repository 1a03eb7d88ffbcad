package policy

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// opinion is what one policy says.
type opinion struct {
	pod.Opinion
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
	case pod.Allow, pod.Deny, pod.Hold, pod.Abstain:
	default:
		return p.failed(&wasm.Failure{Code: wasm.BadOutput, Err: fmt.Errorf("%q is no answer", string(result.Answer))})
	}
	o := opinion{
		Opinion: pod.Opinion{
			Policy: p.Name, Answer: result.Answer, Fuel: result.Fuel,
			Reason: reason(result.Answer, result.Reason), Message: result.Message,
			Warnings: result.Warnings, Annotations: result.Annotations, Explanation: result.Explanation,
			Reads: result.Reads,
		},
		retryAfter: result.RetryAfter,
	}
	if result.Answer == pod.Allow && len(result.Patch) > 0 {
		return p.propose(d, o, result.Patch)
	}
	return o
}

// admit has a policy's plugin judge, unless it is on record that it gave no answer.
func (d *decision) admit(ctx context.Context, p *policy) (wasm.Result, error) {
	if reads, err, ok := d.met.cutOff(p); ok {
		return wasm.Result{Reads: reads}, err
	}
	result, err := p.plugin.plugin.Admit(ctx, d.request)
	d.met.asked(p, err, result.Reads)
	return result, err
}

var codeForm = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,63}$`)

// agentReasons are those a plugin cannot give: they are the agent's own word.
var agentReasons = []string{
	pod.ReasonPolicyFailed, pod.ReasonPoliciesNotReady, pod.ReasonDefaultVerdict, pod.ReasonAdopted, pod.ReasonBudgetExhausted,
	pod.ReasonVerdictNotKept, pod.ReasonException, pod.ReasonPolicySuppressed, pod.ReasonNotAnswered,
	pod.ReasonPolicyEvicted, pod.ReasonConflictRejected, pod.ReasonPolicyViolation,
}

// isReason reports whether a plugin's code can be a reason.
func isReason(code string) bool {
	return codeForm.MatchString(code) && !slices.Contains(agentReasons, code)
}

// reason is the plugin's code if it can be a reason, else that of the answer.
func reason(answer pod.Answer, code string) string {
	if isReason(code) {
		return code
	}
	switch answer {
	case pod.Deny:
		return pod.ReasonPolicyDenied
	case pod.Hold:
		return pod.ReasonPolicyHeld
	}
	return ""
}
