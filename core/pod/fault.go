package pod

import (
	"cmp"
	"fmt"
	"slices"
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

// first is the topmost fault, with the others in its message.
func (f faults) first() (line int, err error) {
	slices.SortStableFunc(f, func(a, b fault) int { return cmp.Compare(a.line, b.line) })
	err = f[0].err
	for i, more := range f[1:] {
		if i+2 > maxFaults {
			err = fmt.Errorf("%w; and more", err)
			break
		}
		err = fmt.Errorf("%w; line %d: %w", err, more.line, more.err)
	}
	return f[0].line, err
}
