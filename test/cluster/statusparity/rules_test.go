//go:build e2e

package statusparity

// rule is a decided difference: its line in docs/differences.md has the reason.
type rule struct {
	id string
	// drop removes from a part of a status what only one agent writes, and reports whether there was any.
	drop func(theirs bool, unit string, is value) bool
	// accept reports whether a finding is this difference.
	accept func(f *finding) bool
	// path reports whether a field that only one agent ever writes is this difference.
	path func(theirs bool, path string) bool
}

var rules []rule
