package server

import (
	"net/http"

	"github.com/wardlet/wardlet/core/api"
)

// Policies returns what judges the pods of this node, and how it did.
type Policies interface {
	// Sets are the sets in force, one per directory.
	Sets() []api.PolicySet
	// Decisions are the newest, newest last.
	Decisions() []api.Decision
	PolicyOrders
}

func (s *Server) servePolicies(p Policies, node string) {
	s.get("/v1/policies", func(*http.Request) any {
		if p == nil {
			return []api.PolicySet{}
		}
		return listed(p.Sets())
	})
	s.servePolicyOrders(p)
	s.getOrRefuse("/v1/decisions", func(r *http.Request) (any, error) {
		q, err := queryOf(r.URL.Query())
		if err != nil || p == nil {
			return []api.Decision{}, err
		}
		return q.of(p.Decisions(), node), nil
	})
}

// listed makes no list an empty one, for clients in other languages.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
