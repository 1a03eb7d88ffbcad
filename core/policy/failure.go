package policy

import (
	"github.com/wardlet/wardlet/core/api"
)

// failed makes a plugin's failure the opinion its policy's on_error says.
func (p *policy) failed(err error) opinion {
	code, message, fuel := failureOf(err)
	return opinion{Opinion: api.Opinion{
		Policy: p.Name, Answer: p.OnError, Failure: code, Reason: api.ReasonPolicyFailed, Message: message, Fuel: fuel,
	}}
}
