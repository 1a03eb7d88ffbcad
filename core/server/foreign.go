package server

import (
	"context"
	"net/http"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

// foreignTimeout limits the time of the request to the runtime.
const foreignTimeout = 2 * time.Second

// Foreign counts the pods in the runtime that are not the agent's own. It asks the runtime, and
// stops when ctx ends.
type Foreign interface {
	Foreign(ctx context.Context) (int, error)
}

func (s *Server) serveForeign(f Foreign) {
	s.getOrRefuse("/v1/foreign", func(r *http.Request) (any, error) {
		ctx, cancel := context.WithTimeout(r.Context(), foreignTimeout)
		defer cancel()
		n, err := f.Foreign(ctx)
		return api.ForeignPods{Pods: n}, err
	})
}
