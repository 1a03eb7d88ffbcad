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

// ask asks the policy's plugin. A failure of it is an opinion too.
func (p *policy) ask(ctx context.Context, r *wasm.Request) opinion {
	result, err := p.plugin.plugin.Admit(ctx, r)
	if err != nil {
		return p.failed(err)
	}
	switch result.Answer {
	case pod.Allow, pod.Deny, pod.Hold, pod.Abstain:
	default:
		return p.failed(&wasm.Failure{Code: wasm.BadOutput, Err: fmt.Errorf("%q is no answer", string(result.Answer))})
	}
	return opinion{
		Opinion: pod.Opinion{
			Policy: p.Name, Answer: result.Answer, Fuel: result.Fuel,
			Reason: reason(result.Answer, result.Reason), Message: result.Message,
			Warnings: result.Warnings, Annotations: result.Annotations, Explanation: result.Explanation,
		},
		retryAfter: result.RetryAfter,
	}
}

var codeForm = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,63}$`)

// agentReasons are those a plugin cannot give: they are the agent's own word.
var agentReasons = []string{pod.ReasonPolicyFailed, pod.ReasonPoliciesNotReady, pod.ReasonDefaultVerdict, pod.ReasonAdopted, pod.ReasonBudgetExhausted}

// reason is the plugin's code if it can be a reason, else that of the answer.
func reason(answer pod.Answer, code string) string {
	if codeForm.MatchString(code) && !slices.Contains(agentReasons, code) {
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
