package nodeapi

import (
	"context"
	"net/http"
	"strings"

	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// statsSubresource is the subresource of the node for statistics.
const statsSubresource = "stats"

// Stats measures the resources that the node and its pods use.
type Stats interface {
	// Summary returns the statistics, with basic only those of CPU, memory and swap.
	Summary(ctx context.Context, basic bool) (*statsapi.Summary, error)
	// Resource and Cadvisor serve statistics as metrics.
	Resource() http.Handler
	Cadvisor() http.Handler
}

// summary serves the statistics of node, pods and containers. As in a kubelet,
// ?only_cpu_and_memory=true selects those of CPU and memory.
func (s *Server) summary(w http.ResponseWriter, req *http.Request) {
	basic := strings.EqualFold(req.FormValue("only_cpu_and_memory"), "true")
	summary, err := s.cfg.Stats.Summary(req.Context(), basic)
	if err != nil {
		http.Error(w, "the resources of the node are not measured: "+err.Error(), http.StatusInternalServerError)
		return
	}
	answerJSON(w, summary)
}

func (s *Server) resourceMetrics(w http.ResponseWriter, req *http.Request) {
	s.cfg.Stats.Resource().ServeHTTP(w, req)
}

func (s *Server) cadvisorMetrics(w http.ResponseWriter, req *http.Request) {
	s.cfg.Stats.Cadvisor().ServeHTTP(w, req)
}
