package nodeapi

import (
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// checks are the parts of the health of a kubelet. That the server answers shows the first two.
var checks = []string{"ping", "log", syncLoop}

const syncLoop = "syncloop"

// health counts the results of the checks, as a kubelet's /metrics/slis does.
type health struct {
	mu      sync.Mutex
	results map[string]map[bool]int
}

// check runs a check.
func (s *Server) check(name string) error {
	var err error
	if name == syncLoop {
		err = s.cfg.Health()
	}
	s.checked.mu.Lock()
	defer s.checked.mu.Unlock()
	if s.checked.results[name] == nil {
		s.checked.results[name] = map[bool]int{}
	}
	s.checked.results[name][err == nil]++
	return err
}

// healthz serves the health of the agent, or that of one check.
func (s *Server) healthz(w http.ResponseWriter, req *http.Request) {
	wanted := checks
	if name := req.PathValue("check"); name != "" {
		if !slices.Contains(checks, name) {
			http.NotFound(w, req)
			return
		}
		wanted = []string{name}
	}
	for _, name := range wanted {
		if err := s.check(name); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	_, _ = io.WriteString(w, "ok") // a client that is gone needs no answer
}

var (
	healthOf  = prometheus.NewDesc("kubernetes_healthcheck", "Result of a check of the agent's health: 1 for success.", []string{"name", "type"}, nil)
	healthSum = prometheus.NewDesc("kubernetes_healthchecks_total", "Results of a check of the agent's health.", []string{"name", "status", "type"}, nil)
)

// Describe implements prometheus.Collector.
func (s *Server) Describe(out chan<- *prometheus.Desc) { out <- healthOf; out <- healthSum }

// Collect implements prometheus.Collector.
func (s *Server) Collect(out chan<- prometheus.Metric) {
	for _, name := range checks {
		now := 1.0
		if s.check(name) != nil {
			now = 0
		}
		out <- prometheus.MustNewConstMetric(healthOf, prometheus.GaugeValue, now, name, "healthz")
		s.checked.mu.Lock()
		for ok, n := range s.checked.results[name] {
			status := "success"
			if !ok {
				status = "error"
			}
			out <- prometheus.MustNewConstMetric(healthSum, prometheus.CounterValue, float64(n), name, status, "healthz")
		}
		s.checked.mu.Unlock()
	}
}

func (s *Server) sliMetrics(w http.ResponseWriter, req *http.Request) { collected(s, w, req) }

func (s *Server) probeMetrics(w http.ResponseWriter, req *http.Request) {
	collected(s.cfg.Probes, w, req)
}

// collected serves the metrics of one collector.
func collected(c prometheus.Collector, w http.ResponseWriter, req *http.Request) {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, DisableCompression: true}).ServeHTTP(w, req)
}
