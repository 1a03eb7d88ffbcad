package policy

import (
	"errors"

	"github.com/wardlet/wardlet/core/printable"
	"github.com/wardlet/wardlet/core/strict"
)

// Fault is one of what is wrong with a set, or what its author should look at.
type Fault struct {
	// File is empty, Line 0 and Key empty where the fault is of none, or where they are
	// not known.
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Key     string `json:"key,omitempty"`
	Message string `json:"message"`
}

// Faults are those that an error of a set consists of, in its order.
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

// InFile is an error of a file as a whole.
func InFile(file string, err error) error { return &fileError{file, err} }

type fileError struct {
	file string
	err  error
}

func (e *fileError) Error() string { return printable.Line(e.file) + ": " + e.err.Error() }
func (e *fileError) Unwrap() error { return e.err }

// texts are the faults of an error as Error renders them, but for their messages, in which
// nothing is escaped.
func texts(err error) []string {
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
