//go:build e2e

package statusparity

import "strings"

// rule is a decided difference: its line in docs/differences.md has the reason.
type rule struct {
	id string
	// drop removes from a part of a status what only one agent writes, and reports whether there was any.
	drop func(theirs bool, unit string, is value) bool
	// unit reports whether a whole part is written by one agent alone.
	unit func(theirs bool, unit string) bool
	// accept reports whether a finding is this difference.
	accept func(f *finding) bool
	// path reports whether a field that only one agent ever writes is this difference.
	path func(theirs bool, path string) bool
}

// rules are the decided differences, by their IDs in docs/differences.md.
var rules = []rule{
	{
		id: "no-resources-in-status",
		drop: func(theirs bool, unit string, is value) bool {
			if !theirs || !strings.HasPrefix(unit, "container ") {
				return false
			}
			n := len(is)
			delete(is, "resources")
			delete(is, "allocatedResources")
			return len(is) < n
		},
		unit: func(theirs bool, unit string) bool {
			return theirs && (unit == "resources" || unit == "allocatedResources")
		},
		path: func(theirs bool, path string) bool {
			return theirs && (strings.Contains(path, ".resources") || strings.Contains(path, ".allocatedResources"))
		},
	},
}
