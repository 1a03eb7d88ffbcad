package nodeapi

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/kube"
	"github.com/wardlet/wardlet/core/pod"
)

// Pods are the pods of this node.
type Pods interface {
	// PodList returns the pods with their statuses.
	PodList() *v1.PodList
}

// Config is the configuration of a Server.
type Config struct {
	// Listen is the HOST:PORT for HTTPS. ReadOnlyListen and HealthzListen are addresses without
	// authentication. An empty address is not served.
	Listen, ReadOnlyListen, HealthzListen string
	// Node is the node's name.
	Node string
	// CertFile and KeyFile are the server's certificate and key. ClientCAFile has the authorities of
	// clients. All are PEM, and are read again when they change.
	CertFile, KeyFile, ClientCAFile string
	// Certified is closed once CertFile exists; nil if it does. HTTPS is served from then on.
	Certified <-chan struct{}
	// Client authenticates and authorizes callers at the API server. It is nil for a node without a
	// cluster: clients then need a certificate, which grants every right.
	Client     *kube.Client
	Pods       Pods
	Containers Containers
	// NodeLogs are the logs of the machine, nil if they are not served.
	NodeLogs *NodeLogs
	// Running returns the pods and containers that run in the runtime, with their names and images only.
	Running func() *v1.PodList
	// Checkpoint writes the state of a container to a file in CheckpointDir, which is absolute. It ends
	// within timeout, 0 for the runtime's own limit.
	Checkpoint    func(ctx context.Context, id, path string, timeout time.Duration) error
	CheckpointDir string
	// Metrics serves metrics in the format of Prometheus, and Probes has those of probes.
	Metrics http.Handler
	Probes  prometheus.Collector
	Stats   Stats
	// Configz returns the configuration in force.
	Configz func() *KubeletConfiguration
	// Connections decides about connections to pods that callers have the right to; nil allows all.
	Connections Connections
	// Health returns the agent's problem, nil for none.
	Health func() error
	Logger *slog.Logger
	Now    func() time.Time
}

// Server serves the node's API.
type Server struct {
	cfg   Config
	files *keyPair
	auth  *authenticator
	may   *authorizer
	// mux serves all routes to authorized clients; readOnly and health serve some without
	// authentication.
	mux, readOnly, health *http.ServeMux
	// streams serves requests that passed the guard.
	streams *Streams
	checked health
}

// route is one kind of request. The caller must have a right to the subresource of the node.
type route struct {
	pattern     string
	subresource string
	serve       func(*Server, http.ResponseWriter, *http.Request)
	// open serves requests without authentication; nil if the route requires authentication.
	open func(*Server, http.ResponseWriter, *http.Request)
}

// healthzPattern is the route of health.
const healthzPattern = "GET /healthz"

// routes are all served routes. New routes are added only here.
var routes = []route{
	{healthzPattern, "healthz", (*Server).healthz, (*Server).healthz},
	{healthzPattern + "/{check}", "healthz", (*Server).healthz, (*Server).healthz},
	{"GET /pods", "pods", (*Server).pods, (*Server).redactedPods},
	{"GET /pods/{$}", "pods", (*Server).pods, (*Server).redactedPods},
	{"GET /runningpods/{$}", "pods", (*Server).runningPods, nil},
	{"GET /metrics", "metrics", (*Server).metrics, (*Server).metrics},
	{"GET /metrics/resource", "metrics", (*Server).resourceMetrics, (*Server).resourceMetrics},
	{"GET /metrics/cadvisor", "metrics", (*Server).cadvisorMetrics, (*Server).cadvisorMetrics},
	{"GET /metrics/probes", "metrics", (*Server).probeMetrics, (*Server).probeMetrics},
	{"GET /metrics/slis", "metrics", (*Server).sliMetrics, (*Server).sliMetrics},
	{"GET /stats/summary", statsSubresource, (*Server).summary, (*Server).summary},
	{"GET /configz", "configz", (*Server).configz, nil},
	{"GET /logs/{path...}", logSubresource, (*Server).nodeLogs, nil},
	{"POST /checkpoint/{namespace}/{pod}/{container}", checkpointSubresource, (*Server).checkpoint, nil},
	{"GET /containerLogs/{namespace}/{pod}/{container}", proxySubresource, (*Server).containerLogs, nil},
	{"GET /exec/{namespace}/{pod}/{container}", proxySubresource, (*Server).exec, nil},
	{"POST /exec/{namespace}/{pod}/{container}", proxySubresource, (*Server).exec, nil},
	{"GET /exec/{namespace}/{pod}/{uid}/{container}", proxySubresource, (*Server).exec, nil},
	{"POST /exec/{namespace}/{pod}/{uid}/{container}", proxySubresource, (*Server).exec, nil},
	{"GET /attach/{namespace}/{pod}/{container}", proxySubresource, (*Server).attach, nil},
	{"POST /attach/{namespace}/{pod}/{container}", proxySubresource, (*Server).attach, nil},
	{"GET /attach/{namespace}/{pod}/{uid}/{container}", proxySubresource, (*Server).attach, nil},
	{"POST /attach/{namespace}/{pod}/{uid}/{container}", proxySubresource, (*Server).attach, nil},
	{"GET /portForward/{namespace}/{pod}", proxySubresource, (*Server).portForward, nil},
	{"POST /portForward/{namespace}/{pod}", proxySubresource, (*Server).portForward, nil},
	{"GET /portForward/{namespace}/{pod}/{uid}", proxySubresource, (*Server).portForward, nil},
	{"POST /portForward/{namespace}/{pod}/{uid}", proxySubresource, (*Server).portForward, nil},
}

// New returns a server; Run starts it.
func New(cfg Config) *Server {
	files := &keyPair{cert: cfg.CertFile, key: cfg.KeyFile, ca: cfg.ClientCAFile, log: cfg.Logger, now: cfg.Now}
	s := &Server{
		cfg: cfg, mux: http.NewServeMux(), readOnly: http.NewServeMux(), health: http.NewServeMux(),
		files:   files,
		auth:    newAuthenticator(cfg.Client, files.authorities, cfg.Now),
		checked: health{results: map[string]map[bool]int{}},
		may:     &authorizer{client: cfg.Client, node: cfg.Node, now: cfg.Now, known: map[attributes]answer{}},
		streams: &Streams{
			Pods: cfg.Pods, Containers: cfg.Containers, Connections: cfg.Connections, Source: FromNodeAPI, User: userOf, Logger: cfg.Logger, Now: cfg.Now,
		},
	}
	for _, r := range routes {
		s.mux.HandleFunc(r.pattern, func(w http.ResponseWriter, req *http.Request) { s.guarded(w, req, r) })
		if r.open != nil {
			s.readOnly.HandleFunc(r.pattern, func(w http.ResponseWriter, req *http.Request) { r.open(s, w, req) })
		}
	}
	s.health.HandleFunc(healthzPattern, s.healthz)
	s.health.HandleFunc(healthzPattern+"/{check}", s.healthz)
	// An unknown path is refused, like any other, for a client without the right to it.
	s.mux.HandleFunc("/", func(w http.ResponseWriter, req *http.Request) {
		s.guarded(w, req, route{subresource: proxySubresource, serve: func(_ *Server, w http.ResponseWriter, req *http.Request) { http.NotFound(w, req) }})
	})
	return s
}

// guarded serves a route to authorized clients.
func (s *Server) guarded(w http.ResponseWriter, req *http.Request, r route) {
	user, err := s.auth.user(req)
	if err != nil {
		s.cfg.Logger.Debug("a request to the node's API is refused", "from", req.RemoteAddr, "path", req.URL.Path, "err", err)
		w.Header().Set("Connection", "close") // a client that has renewed its certificate shows it in the next one
		http.Error(w, "Unauthorized", http.StatusUnauthorized)
		return
	}
	allowed, err := s.may.may(req.Context(), user, req.Method, r.subresource)
	switch {
	case err != nil:
		s.cfg.Logger.Warn("the API server does not say who may use the node's API", "user", user.name, "err", err)
		http.Error(w, "the API server cannot be asked whether you may: try again", http.StatusInternalServerError)
	case !allowed:
		http.Error(w, fmt.Sprintf("Forbidden (user=%s, verb=%s, resource=nodes, subresource=%s)", user.name, verb(req.Method), r.subresource), http.StatusForbidden)
	default:
		callerKnown(req.Context())
		r.serve(s, w, req.WithContext(context.WithValue(req.Context(), userKey{}, user)))
	}
}

func (s *Server) pods(w http.ResponseWriter, _ *http.Request) { answerJSON(w, s.podList()) }

func (s *Server) runningPods(w http.ResponseWriter, _ *http.Request) {
	list := s.cfg.Running()
	list.Kind, list.APIVersion = "PodList", "v1"
	answerJSON(w, list)
}

// redactedPods serves the pods without the values of environment variables.
func (s *Server) redactedPods(w http.ResponseWriter, _ *http.Request) {
	list := s.podList()
	for i := range list.Items {
		list.Items[i] = *pod.Redacted(&list.Items[i])
	}
	answerJSON(w, list)
}

func (s *Server) podList() *v1.PodList {
	list := s.cfg.Pods.PodList()
	list.Kind, list.APIVersion = "PodList", "v1"
	return list
}

func (s *Server) metrics(w http.ResponseWriter, req *http.Request) { s.cfg.Metrics.ServeHTTP(w, req) }

func (s *Server) configz(w http.ResponseWriter, _ *http.Request) {
	answerJSON(w, map[string]any{"kubeletconfig": s.cfg.Configz()})
}

func answerJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // a client that is gone needs no answer
}

func (s *Server) containerLogs(w http.ResponseWriter, req *http.Request) { s.streams.Logs(w, req) }

func (s *Server) exec(w http.ResponseWriter, req *http.Request) { s.streams.Exec(w, req) }

func (s *Server) attach(w http.ResponseWriter, req *http.Request) { s.streams.Attach(w, req) }

func (s *Server) portForward(w http.ResponseWriter, req *http.Request) { s.streams.PortForward(w, req) }
