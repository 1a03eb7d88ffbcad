package spec

import (
	"errors"

	"github.com/wardlet/wardlet/core/printable"
	"github.com/wardlet/wardlet/core/strict"
)

// Fault is an error in a set of policies, or something its author should look at.
type Fault struct {
	// File, Line and Key are zero if the fault has none, or if they are not known.
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Key     string `json:"key,omitempty"`
	Message string `json:"message"`
}

// Faults returns the faults that an error of a set consists of, in its order.
func Faults(err error) []Fault {
	switch e := err.(type) { //nolint:errorlint // what is wrapped in other words is one fault
	case nil:
		return nil
	case strict.Errors:
		all := make([]Fault, len(e))
		for i := range e {
			all[i] = Fault(e[i])
		}
		return all
	case *fileError:
		return []Fault{{File: e.file, Message: e.err.Error()}}
	case interface{ Unwrap() []error }:
		var all []Fault
		for _, one := range e.Unwrap() {
			all = append(all, Faults(one)...)
		}
		return all
	}
	return []Fault{{Message: err.Error()}}
}

// InFile returns an error that concerns a file as a whole.
func InFile(file string, err error) error { return &fileError{file, err} }

type fileError struct {
	file string
	err  error
}

func (e *fileError) Error() string { return printable.Line(e.file) + ": " + e.err.Error() }
func (e *fileError) Unwrap() error { return e.err }

// FaultLines returns the faults of an error, each in one line with file and line.
// Messages are not escaped.
func FaultLines(err error) []string {
	all, ok := errors.AsType[strict.Errors](err)
	switch {
	case err == nil:
		return nil
	case !ok:
		return []string{err.Error()}
	}
	lines := make([]string, len(all))
	for i, e := range all {
		place := e
		place.Message = ""
		lines[i] = place.Error() + e.Message
	}
	return lines
}
