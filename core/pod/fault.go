package pod

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// fault is one thing wrong with a document, and its line in the file.
type fault struct {
	line int
	err  error
}

type faults []fault

// maxFaults is how many faults of one document are told; nobody looks for
// many more.
const maxFaults = 10

// first is the line of the topmost fault, and an error of all.
func (f faults) first() (line int, err error) {
	slices.SortStableFunc(f, func(a, b fault) int { return cmp.Compare(a.line, b.line) })
	if len(f) == 1 {
		return f[0].line, f[0].err
	}
	return f[0].line, &several{f}
}

// several are two faults or more of one document, in the order of their lines.
type several struct{ all faults }

// Error renders them in one line, which begins without the first one's place.
func (s *several) Error() string {
	var text strings.Builder
	for i, f := range s.all {
		switch {
		case i == maxFaults:
			return text.String() + "; and more"
		case i > 0:
			fmt.Fprintf(&text, "; line %d: ", f.line)
		}
		text.WriteString(f.err.Error())
	}
	return text.String()
}

// Unwrap returns the faults without their lines.
func (s *several) Unwrap() []error {
	var errs []error
	for _, f := range s.all {
		errs = append(errs, f.err)
	}
	return errs
}
