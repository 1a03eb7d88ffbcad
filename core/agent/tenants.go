package agent

import (
	"slices"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/pod"
)

// ownerOf tells whose the pods in a namespace are: a tenant's, or nobody's, which
// is empty, but the operator's.
func ownerOf(tenants []config.Tenant) func(namespace string) string {
	return func(namespace string) string {
		for i := range tenants {
			if slices.ContainsFunc(tenants[i].Namespaces, func(pattern string) bool { return pod.MatchNamespace(pattern, namespace) }) {
				return tenants[i].Name
			}
		}
		return ""
	}
}

// eventShare is how many events are kept of the pods of each owner, where there are
// so many tenants beside the operator.
func eventShare(tenants int) int { return max(maxEvents/(1+tenants), minEvents) }

// The events that are kept for `get`: how many there are in all, and of one owner
// at the least, which comes first.
const (
	maxEvents = 1000
	minEvents = 100
)
