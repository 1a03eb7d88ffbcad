package merge

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
)

// Column has the values of one field for all candidates. Declare it as a package variable.
type Column[T any] struct {
	field *sdk.Field
	read  func(sdk.Value) T
}

// Len returns the number of candidates.
func (c *Column[T]) Len() int { return c.field.Len() }

// Of returns the field of candidate i, zero if there is no such candidate.
func (c *Column[T]) Of(i int) T { return c.read(c.field.At(i)) }

// Lazy makes the column lazy, see sdk.Field.Lazy.
func (c *Column[T]) Lazy() *Column[T] {
	c.field.Lazy()
	return c
}

func column[T any](path string, read func(sdk.Value) T) *Column[T] {
	return &Column[T]{sdk.Candidates(path), read}
}

// Object declares a field of the candidates' pods; the path is as in
// sdk.Object.
func Object(path string) *Column[sdk.Value] {
	return column("object."+path, func(v sdk.Value) sdk.Value { return v })
}

// Source declares the names of the candidates' sources in agent.toml.
func Source() *Column[string] { return column("source", sdk.Value.String) }

// Kind declares the kinds of the candidates' sources: file, http or api.
func Kind() *Column[string] { return column("kind", sdk.Value.String) }

// Document declares the names of the documents in their sources.
func Document() *Column[string] { return column("document", sdk.Value.String) }

// Running declares whether a candidate runs.
func Running() *Column[bool] { return column("running", sdk.Value.Bool) }

// Restored declares whether the agent remembers a candidate from before its start, and the
// source has not confirmed the candidate since.
func Restored() *Column[bool] { return column("restored", sdk.Value.Bool) }

// FirstSeen declares when the agent first saw each candidate, in milliseconds since 1970.
func FirstSeen() *Column[int64] { return column("firstSeen", sdk.Value.Int) }

// firstCandidate is the document number of candidate 0.
const firstCandidate = 16

// JSON returns the whole pod of a candidate as JSON, or nil if there is no such candidate.
// The policy may change the returned text.
func JSON(i int) []byte {
	if i < 0 {
		return nil
	}
	return guest.Document(firstCandidate + i)
}
