package author

import (
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/replay"
	"github.com/wardlet/wardlet/core/policy/spec"
)

// What an author sees of policies is what an agent sees.
type (
	// Statement is the answer of one policy, with what it cost.
	Statement = eval.Result
	// Fault is one of what is wrong with a set, or what its author should look at.
	Fault = spec.Fault
)

// Faults returns those that an error of a set consists of, in its order.
func Faults(err error) []Fault { return spec.Faults(err) }

// InFile returns err as one of a file.
func InFile(file string, err error) error { return spec.InFile(file, err) }

// SetFiles returns the SHA-256 sums, in hex, of the files that make up the set in dir,
// by name. The error says which of them cannot be read, or that they change meanwhile.
func SetFiles(dir string) (map[string]string, error) { return bundle.Files(dir) }

// AnswerOf returns what a verdict answers its hook: with merge, what the policy that
// decided did.
func AnswerOf(hook string, v *api.Verdict) api.Answer { return replay.AnswerOf(hook, v) }
