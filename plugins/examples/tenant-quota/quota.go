package main

import (
	"github.com/wardlet/wardlet/plugins/sdk/glob"
	"github.com/wardlet/wardlet/plugins/sdk/str"
)

// quota is what the pods of some namespaces may take.
type quota struct {
	// said is the name of the quota in texts.
	said string
	// namespaces are globs of the namespaces to which the quota applies. except are globs
	// of namespaces to which it does not apply.
	namespaces, except []string
	// each: every namespace has the whole quota for itself.
	each  bool
	limit amounts
	// bounds reports for each resource whether it has a limit.
	bounds [resources]bool
}

// has reports whether the quota applies to a namespace.
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

// shares reports whether a pod of the namespace other counts against the same amounts as a
// pod of the namespace ours. The quota must apply to ours.
func (q *quota) shares(other, ours string) bool {
	return str.Equal(other, ours) || !q.each && q.has(other)
}
