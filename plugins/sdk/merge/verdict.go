package merge

// answer is the answer of a Verdict; the zero value is no answer.
type answer byte

const (
	unsaid answer = iota
	win
	keepCurrent
	rejectAll
	abstain
	fail
)

// Verdict is the answer of a policy about the candidates. The zero Verdict makes the call
// fail.
type Verdict struct {
	answer        answer
	winner        int
	code, message string
}

// Win lets the candidate with this number win. If there is no such candidate, the call
// fails.
func Win(candidate int) Verdict { return Verdict{answer: win, winner: candidate} }

// KeepCurrent lets the running candidate keep running. If none runs, the call fails.
func KeepCurrent() Verdict { return Verdict{answer: keepCurrent} }

// RejectAll lets no candidate run. code is one CamelCase word for programs, at most 64
// bytes. message is a sentence for people, at most 4 KiB.
func RejectAll(code, message string) Verdict {
	return Verdict{answer: rejectAll, code: code, message: message}
}

// Abstain returns a verdict without an opinion: another policy or the agent's own order
// decides.
func Abstain() Verdict { return Verdict{answer: abstain} }

// Fail says that the policy cannot choose. The policy's on_error then decides.
func Fail(message string) Verdict { return Verdict{answer: fail, message: message} }
