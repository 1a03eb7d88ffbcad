package connect

// answer is what a Verdict says; the zero value says nothing.
type answer byte

const (
	unsaid answer = iota
	allow
	deny
	abstain
	fail
)

// Verdict is what a policy says of one connection. A denial of one policy
// counts, whatever others allow. The zero Verdict is none: it makes the call
// fail.
type Verdict struct {
	answer        answer
	code, message string
}

// Allow lets the connection be made, as far as this policy is concerned.
func Allow() Verdict { return Verdict{answer: allow} }

// Deny forbids the connection. Code is one CamelCase word for programs, at most
// 64 bytes; message a sentence for the user, at most 4 KiB.
func Deny(code, message string) Verdict {
	return Verdict{answer: deny, code: code, message: message}
}

// Abstain has no opinion: the connection is none of this policy's business.
func Abstain() Verdict { return Verdict{answer: abstain} }

// Fail says that the policy cannot judge the connection. It is denied then, but
// to root on the agent's local socket.
func Fail(message string) Verdict { return Verdict{answer: fail, message: message} }
