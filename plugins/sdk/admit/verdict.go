package admit

import (
	"math"

	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
)

// answer is the answer of a Verdict; the zero value is no answer.
type answer byte

const (
	unsaid answer = iota
	allow
	deny
	hold
	abstain
	fail
)

// Verdict is the answer of a policy about one pod. If several policies answer, the
// strongest verdict applies: deny, then hold, then allow. The zero Verdict makes the call
// fail.
//
// A Verdict has only two words, because in a policy with loops every word of the result is
// copied several times.
type Verdict struct {
	answer answer
	// retryAfter is in milliseconds.
	retryAfter uint32
	reason     *guest.Reason
}

// Duration is a length of time in milliseconds.
type Duration = sdk.Duration

// Lengths of time.
const (
	Millisecond = sdk.Millisecond
	Second      = sdk.Second
	Minute      = sdk.Minute
	Hour        = sdk.Hour
)

// Allow allows the pod to run; another policy may still hold or deny it.
func Allow() Verdict { return Verdict{answer: allow} }

// Abstain returns a verdict without an opinion: this policy does not apply to the pod.
func Abstain() Verdict { return Verdict{answer: abstain} }

// Deny forbids the pod. code is one CamelCase word for programs, at most 64 bytes. message
// is a sentence for people, at most 4 KiB, without the policy's name.
func Deny(code, message string) Verdict {
	return Verdict{answer: deny, reason: guest.NewReason(code, message)}
}

// Hold lets the pod wait; the pod is judged again later. code and message are as in Deny.
func Hold(code, message string) Verdict {
	return Verdict{answer: hold, reason: guest.NewReason(code, message)}
}

// Fail says that the policy cannot judge the pod. The policy's on_error then decides.
func Fail(message string) Verdict { return Verdict{answer: fail, reason: guest.NewReason("", message)} }

// RetryAfter sets the time after which a pod on hold is judged again. Without it, the times
// are 10 s, then 20 s and so on. The agent uses at least 1 s and at most 10 min. For other
// verdicts, RetryAfter has no effect.
func (v Verdict) RetryAfter(d Duration) Verdict {
	v.retryAfter = uint32(min(max(d, 0), math.MaxUint32))
	return v
}
