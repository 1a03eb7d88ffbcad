package server

import (
	"net/http"

	"github.com/wardlet/wardlet/core/pod"
)

// Policies gives what judges the pods of this node, and how it did.
type Policies interface {
	// Sets are the sets in force, one per directory.
	Sets() []pod.PolicySet
	// Decisions are the newest, newest last.
	Decisions() []pod.Decision
	PolicyOrders
}

func (s *Server) servePolicies(p Policies) {
	s.get("/v1/policies", func(*http.Request) any {
		if p == nil {
			return []pod.PolicySet{}
		}
		return listed(p.Sets())
	})
	s.servePolicyOrders(p)
	s.get("/v1/decisions", func(r *http.Request) any {
		if p == nil {
			return []pod.Decision{}
		}
		return decisions(p.Decisions(), r.FormValue("namespace"), r.FormValue("name"))
	})
}

// decisions are those of all on pods of this namespace and name; empty names
// any.
func decisions(all []pod.Decision, namespace, name string) []pod.Decision {
	some := []pod.Decision{}
	for i := range all {
		if (namespace == "" || all[i].Namespace == namespace) && (name == "" || all[i].Name == name) {
			some = append(some, all[i])
		}
	}
	return some
}

// listed makes no list an empty one, for clients in other languages.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
