package manifest

import (
	"cmp"
	"slices"

	"github.com/wardlet/wardlet/core/api"
)

// fault is one thing wrong with a document, and its line in the file.
type fault struct {
	line int
	err  error
}

type faults []fault

// first is the line of the topmost fault, and an error of all.
func (f faults) first() (line int, err error) {
	slices.SortStableFunc(f, func(a, b fault) int { return cmp.Compare(a.line, b.line) })
	if len(f) == 1 {
		return f[0].line, f[0].err
	}
	all := &api.Faults{}
	for _, one := range f {
		all.All = append(all.All, api.Fault{Line: one.line, Err: one.err})
	}
	return f[0].line, all
}
