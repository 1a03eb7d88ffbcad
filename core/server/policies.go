package server

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

// Policies returns the policy sets and decisions of this node.
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

// listed returns an empty list instead of nil, for clients in other languages.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// PolicyOrders reloads, retries or rolls back the policies of an owner; an empty tenant means the
// operator. Each method returns the resulting state of the set. The error says why the content of
// the directory is not in force.
type PolicyOrders interface {
	Reload(ctx context.Context, tenant string) (api.PolicySet, error)
	Retry(ctx context.Context, tenant string) (api.PolicySet, error)
	Rollback(ctx context.Context, tenant string) (api.PolicySet, error)
	// Confirm lets a policy evict more than the allowed share of its pods. sha256 must be empty or a
	// prefix of the digest of the policy's module or document.
	Confirm(ctx context.Context, tenant, policy, sha256 string) (api.PolicySet, error)
}

// orderTime limits the time of an order.
const orderTime = 10 * time.Minute

func (s *Server) servePolicyOrders(p Policies) {
	type order func(ctx context.Context, r *http.Request) (api.PolicySet, error)
	simple := func(do func(PolicyOrders, context.Context, string) (api.PolicySet, error)) order {
		return func(ctx context.Context, r *http.Request) (api.PolicySet, error) {
			return do(p, ctx, r.FormValue("tenant"))
		}
	}
	for path, order := range map[string]order{
		"reload": simple(PolicyOrders.Reload), "retry": simple(PolicyOrders.Retry), "rollback": simple(PolicyOrders.Rollback),
		"confirm": func(ctx context.Context, r *http.Request) (api.PolicySet, error) {
			return p.Confirm(ctx, r.FormValue("tenant"), r.FormValue("name"), r.FormValue("sha256"))
		},
	} {
		s.mux.HandleFunc("POST /v1/policies/"+path, func(w http.ResponseWriter, r *http.Request) {
			if p == nil {
				refuse(w, http.StatusConflict, "this agent has no policies: agent.toml names no directory of them")
				return
			}
			// Compiling each policy of a set may take half a minute.
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(orderTime)) // else the usual deadline applies
			set, err := order(r.Context(), r)
			if err != nil && set.Directory == "" {
				refuse(w, http.StatusConflict, err.Error())
				return
			}
			outcome := api.PolicyOutcome{Set: set}
			if err != nil {
				outcome.Refused = err.Error()
			}
			s.log.Info("policies were ordered", "order", path, "directory", set.Directory, "generation", set.Generation, "refused", outcome.Refused)
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(outcome) // a client that left needs no answer
		})
	}
}
