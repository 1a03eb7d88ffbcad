package filter

import "github.com/wardlet/wardlet/plugins/sdk"

// answer is the answer of a Verdict; the zero value is no answer.
type answer byte

const (
	unsaid answer = iota
	pass
	drop
	deferred
	abstain
	fail
)

// Verdict is the answer of a policy about one change. The zero Verdict makes the call fail.
type Verdict struct {
	answer        answer
	after         sdk.Duration
	code, message string
}

// Pass lets the change go on.
func Pass() Verdict { return Verdict{answer: pass} }

// Drop holds the change back until the pod changes again, at most for the time max_suppress
// of the policy document.
func Drop() Verdict { return Verdict{answer: drop} }

// Defer holds the change back. After the given time the policy is asked again, about all
// changes until then. If the time is 0 or negative, 60 s are used.
func Defer(after sdk.Duration) Verdict { return Verdict{answer: deferred, after: after} }

// Abstain returns a verdict without an opinion: this policy does not apply to the change.
func Abstain() Verdict { return Verdict{answer: abstain} }

// Fail says that the policy cannot judge the change. The policy's on_error then decides.
func Fail(message string) Verdict { return Verdict{answer: fail, message: message} }

// Because adds a reason to Drop and Defer. code is one CamelCase word for programs, at most
// 64 bytes. message is a sentence for people, at most 4 KiB. For other verdicts, Because
// has no effect.
func (v Verdict) Because(code, message string) Verdict {
	if v.answer == drop || v.answer == deferred {
		v.code, v.message = code, message
	}
	return v
}
