package main

import (
	"github.com/wardlet/wardlet/plugins/sdk/glob"
	"github.com/wardlet/wardlet/plugins/sdk/str"
)

// quota is what the pods of some namespaces may take.
type quota struct {
	// said names it in texts.
	said string
	// namespaces are the globs of those that it is for, except of those that it
	// is not for.
	namespaces, except []string
	// each: every namespace has it for itself.
	each  bool
	limit amounts
	// bounds says of which resources there is a limit.
	bounds [resources]bool
}

// has reports whether the quota is for a namespace.
func (q *quota) has(namespace string) bool {
	return among(q.namespaces, namespace) && !among(q.except, namespace)
}

func among(globs []string, namespace string) bool {
	for _, g := range globs {
		if glob.Match(g, namespace) {
			return true
		}
	}
	return false
}

// shares reports whether a pod of another namespace counts against the same
// amounts as one of ours, which the quota is for.
func (q *quota) shares(other, ours string) bool {
	return str.Equal(other, ours) || !q.each && q.has(other)
}
