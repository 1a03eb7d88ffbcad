package api

import (
	"fmt"
	"strings"
)

// MaxFaults is the number of faults shown for one document. The search for faults stops soon after.
const MaxFaults = 10

// Fault is one fault of a document, with its line in the file.
type Fault struct {
	Line int
	Err  error
}

// Faults are two or more faults of one document, in the order of their lines.
type Faults struct{ All []Fault }

// Error renders the faults in one line, without the place of the first one.
func (f *Faults) Error() string {
	var text strings.Builder
	for i, one := range f.All {
		switch {
		case i == MaxFaults:
			return text.String() + "; and more"
		case i > 0:
			fmt.Fprintf(&text, "; line %d: ", one.Line)
		}
		text.WriteString(one.Err.Error())
	}
	return text.String()
}

// Unwrap returns the faults without their lines.
func (f *Faults) Unwrap() []error {
	var errs []error
	for _, one := range f.All {
		errs = append(errs, one.Err)
	}
	return errs
}
