package admit

import (
	"math"

	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
)

// answer is what a Verdict says; the zero value says nothing.
type answer byte

const (
	unsaid answer = iota
	allow
	deny
	hold
	abstain
	fail
)

// Verdict is what a policy says of one pod. Of several policies the strongest
// counts: deny before hold before allow. The zero Verdict is none: it makes
// the call fail.
//
// It is two words long: a policy that loops hands on each word of its result
// over and over.
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

// Allow lets the pod run, as far as this policy is concerned.
func Allow() Verdict { return Verdict{answer: allow} }

// Abstain has no opinion: the pod is none of this policy's business.
func Abstain() Verdict { return Verdict{answer: abstain} }

// Deny forbids the pod. Code is one CamelCase word for programs, at most 64
// bytes; message a sentence for people, at most 4 KiB, without the policy's
// name.
func Deny(code, message string) Verdict {
	return Verdict{answer: deny, reason: guest.NewReason(code, message)}
}

// Hold lets the pod wait; it is judged again later. Code and message are as in
// Deny.
func Hold(code, message string) Verdict {
	return Verdict{answer: hold, reason: guest.NewReason(code, message)}
}

// Fail says that the policy cannot judge the pod. Its on_error decides.
func Fail(message string) Verdict { return Verdict{answer: fail, reason: guest.NewReason("", message)} }

// RetryAfter says when a pod on hold is to be judged again, instead of after
// 10 s, then 20 s and so on. The agent keeps it between 1 s and 10 min. It
// means nothing to other verdicts.
func (v Verdict) RetryAfter(d Duration) Verdict {
	v.retryAfter = uint32(min(max(d, 0), math.MaxUint32))
	return v
}
