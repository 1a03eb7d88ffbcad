package api

import (
	"fmt"
	"strings"
)

// MaxFaults is how many faults of one document are shown. The search for faults
// stops soon after.
const MaxFaults = 10

// Fault is one thing wrong with a document, and its line in the file.
type Fault struct {
	Line int
	Err  error
}

// Faults are two faults or more of one document, in the order of their lines.
type Faults struct{ All []Fault }

// Error renders them in one line, which begins without the first one's place.
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
