package merge

// answer is what a Verdict says; the zero value says nothing.
type answer byte

const (
	unsaid answer = iota
	win
	keepCurrent
	rejectAll
	abstain
	fail
)

// Verdict is what a policy says of the candidates. The zero Verdict is none: it
// makes the call fail.
type Verdict struct {
	answer        answer
	winner        int
	code, message string
}

// Win lets a candidate win, by its number. If there is no such candidate the
// call fails.
func Win(candidate int) Verdict { return Verdict{answer: win, winner: candidate} }

// KeepCurrent lets the candidate that runs go on. If none runs the call fails.
func KeepCurrent() Verdict { return Verdict{answer: keepCurrent} }

// RejectAll lets no candidate run. Code is one CamelCase word for programs, at
// most 64 bytes; message a sentence for people, at most 4 KiB.
func RejectAll(code, message string) Verdict {
	return Verdict{answer: rejectAll, code: code, message: message}
}

// Abstain has no opinion: the agent's own order decides, or another policy.
func Abstain() Verdict { return Verdict{answer: abstain} }

// Fail says that the policy cannot choose. Its on_error decides.
func Fail(message string) Verdict { return Verdict{answer: fail, message: message} }
