package strict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wardlet/wardlet/core/printable"
)

// Error is one fault of a document.
type Error struct {
	// File is the name of the document.
	File string
	// Line is 1-based, 0 if the fault is about the whole document.
	Line int
	// Key is the path of the key in the form of the document ("sync.frequency"), empty if there is
	// none.
	Key string
	// Message says what is wrong and what is valid.
	Message string
}

// Error renders "file:line: key: message", as compilers do, in printable text.
func (e Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.Key != "" {
		b.WriteString(": " + e.Key)
	}
	return printable.Line(b.String()) + ": " + printable.Lines(e.Message)
}

// Errors are the faults of one document, ordered by line.
type Errors []Error

// Error renders one fault per line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i := range e {
		lines[i] = e[i].Error()
	}
	return strings.Join(lines, "\n")
}

// err sorts e and returns it as an error, nil when there is no fault.
func (e Errors) err() error {
	if len(e) == 0 {
		return nil
	}
	slices.SortStableFunc(e, func(a, b Error) int { return cmp.Compare(a.Line, b.Line) })
	return e
}
