package author

import (
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/replay"
	"github.com/wardlet/wardlet/core/policy/spec"
)

// The types for authors are the same as those of an agent.
type (
	// Statement is the answer of one policy, with what it cost.
	Statement = eval.Result
	// Fault is an error in a set, or something that its author should look at.
	Fault = spec.Fault
)

// Faults returns the faults that an error of a set consists of, in its order.
func Faults(err error) []Fault { return spec.Faults(err) }

// InFile returns err as an error of a file.
func InFile(file string, err error) error { return spec.InFile(file, err) }

// SetFiles returns the SHA-256 sums, in hex, of the files that make up the set in dir, by
// name. The error says which of them cannot be read, or that they change while they are
// read.
func SetFiles(dir string) (map[string]string, error) { return bundle.Files(dir) }

// AnswerOf returns the answer of a verdict of a hook. For merge, that is the answer of the
// policy that decided.
func AnswerOf(hook string, v *api.Verdict) api.Answer { return replay.AnswerOf(hook, v) }
