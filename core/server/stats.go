package server

import (
	"context"
	"net/http"

	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// Stats measures the CPU and memory that the node and its pods use. It may take a second.
type Stats interface {
	Top(ctx context.Context) (*statsapi.Summary, error)
}

func (s *Server) serveStats(stats Stats) {
	if stats == nil {
		return
	}
	s.getOrRefuse("/v1/stats", func(r *http.Request) (any, error) { return stats.Top(r.Context()) })
}
