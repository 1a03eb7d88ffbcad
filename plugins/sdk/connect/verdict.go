package connect

// answer is the answer of a Verdict; the zero value is no answer.
type answer byte

const (
	unsaid answer = iota
	allow
	deny
	abstain
	fail
)

// Verdict is the answer of a policy about one connection. If one policy denies the
// connection, it is denied, even if others allow it. The zero Verdict makes the call fail.
type Verdict struct {
	answer        answer
	code, message string
}

// Allow allows the connection; another policy may still deny it.
func Allow() Verdict { return Verdict{answer: allow} }

// Deny forbids the connection. code is one CamelCase word for programs, at most 64 bytes.
// message is a sentence for the user, at most 4 KiB.
func Deny(code, message string) Verdict {
	return Verdict{answer: deny, code: code, message: message}
}

// Abstain returns a verdict without an opinion: this policy does not apply to the
// connection.
func Abstain() Verdict { return Verdict{answer: abstain} }

// Fail says that the policy cannot judge the connection. The connection is then denied,
// except to root on the agent's local socket.
func Fail(message string) Verdict { return Verdict{answer: fail, message: message} }
