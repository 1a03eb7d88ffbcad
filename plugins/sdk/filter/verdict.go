package filter

import "github.com/wardlet/wardlet/plugins/sdk"

// answer is what a Verdict says; the zero value says nothing.
type answer byte

const (
	unsaid answer = iota
	pass
	drop
	deferred
	abstain
	fail
)

// Verdict is what a policy says of one change. The zero Verdict is none: it
// makes the call fail.
type Verdict struct {
	answer        answer
	after         sdk.Duration
	code, message string
}

// Pass lets the change go on.
func Pass() Verdict { return Verdict{answer: pass} }

// Drop holds the change back until the next one comes, or until the limit of
// the policy document (max_suppress).
func Drop() Verdict { return Verdict{answer: drop} }

// Defer holds the change back; the policy is asked again after the given time,
// with what has changed by then. Without a time, or with less than none, that
// is after 60 s.
func Defer(after sdk.Duration) Verdict { return Verdict{answer: deferred, after: after} }

// Abstain has no opinion: the change is none of this policy's business.
func Abstain() Verdict { return Verdict{answer: abstain} }

// Fail says that the policy cannot judge the change. Its on_error decides.
func Fail(message string) Verdict { return Verdict{answer: fail, message: message} }

// Because says why: code is one CamelCase word for programs, at most 64 bytes;
// message a sentence for people, at most 4 KiB. It means something to Drop and
// Defer.
func (v Verdict) Because(code, message string) Verdict {
	if v.answer == drop || v.answer == deferred {
		v.code, v.message = code, message
	}
	return v
}
