package policy

import (
	"errors"
	"fmt"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// failed makes a plugin's failure the opinion its policy's on_error says.
func (p *policy) failed(err error) opinion {
	code, detail, fuel := wasm.HostError, err, int64(0)
	if failure, ok := errors.AsType[*wasm.Failure](err); ok {
		code, detail, fuel = failure.Code, failure.Err, failure.Fuel
	}
	message := fmt.Sprintf("the plugin failed with %s", code)
	if detail != nil {
		message += ": " + oneLine(detail.Error())
	}
	return opinion{Opinion: pod.Opinion{
		Policy: p.Name, Answer: p.OnError, Failure: string(code), Reason: pod.ReasonPolicyFailed, Message: message, Fuel: fuel,
	}}
}
