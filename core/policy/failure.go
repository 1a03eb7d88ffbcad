package policy

import "github.com/wardlet/wardlet/core/pod"

// failed makes a plugin's failure the opinion its policy's on_error says.
func (p *policy) failed(err error) opinion {
	code, message, fuel := failureOf(err)
	return opinion{Opinion: pod.Opinion{
		Policy: p.Name, Answer: p.OnError, Failure: code, Reason: pod.ReasonPolicyFailed, Message: message, Fuel: fuel,
	}}
}
