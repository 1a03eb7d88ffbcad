package nodeapi

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/kube"
)

// Pods are the pods of this node.
type Pods interface {
	// PodList returns the pods with their statuses.
	PodList() *v1.PodList
}

// Config is what a Server works with.
type Config struct {
	// Listen is HOST:PORT, Node the node's name.
	Listen, Node string
	// CertFile and KeyFile are the server's certificate and key, ClientCAFile has the authorities of clients; all PEM,
	// and read anew when they change.
	CertFile, KeyFile, ClientCAFile string
	// Client authenticates and authorizes callers at the API server.
	Client     *kube.Client
	Pods       Pods
	Containers Containers
	// Connections decide about connections to pods that callers have the right to; nil lets all be made.
	Connections Connections
	// Health returns what is wrong with the agent, nil for nothing.
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
	mux   *http.ServeMux
	// streams serve what passes the guard.
	streams *Streams
}

// route is one kind of request. subresource is what of the node a caller must have a right to.
type route struct {
	pattern     string
	subresource string
	serve       func(*Server, http.ResponseWriter, *http.Request)
}

// routes are all that is served: the only place where one is added.
var routes = []route{
	{"GET /healthz", "healthz", (*Server).healthz},
	{"GET /pods", "pods", (*Server).pods},
	{"GET /pods/{$}", "pods", (*Server).pods},
	{"GET /containerLogs/{namespace}/{pod}/{container}", proxySubresource, (*Server).containerLogs},
	{"GET /exec/{namespace}/{pod}/{container}", proxySubresource, (*Server).exec},
	{"POST /exec/{namespace}/{pod}/{container}", proxySubresource, (*Server).exec},
	{"GET /exec/{namespace}/{pod}/{uid}/{container}", proxySubresource, (*Server).exec},
	{"POST /exec/{namespace}/{pod}/{uid}/{container}", proxySubresource, (*Server).exec},
}

// New returns a server; Run starts it.
func New(cfg Config) *Server {
	s := &Server{
		cfg: cfg, mux: http.NewServeMux(),
		files: &keyPair{cert: cfg.CertFile, key: cfg.KeyFile, ca: cfg.ClientCAFile, log: cfg.Logger, now: cfg.Now},
		auth:  newAuthenticator(cfg.Client, cfg.Now),
		may:   &authorizer{client: cfg.Client, node: cfg.Node, now: cfg.Now, known: map[attributes]answer{}},
		streams: &Streams{
			Pods: cfg.Pods, Containers: cfg.Containers, Connections: cfg.Connections, Source: FromNodeAPI, User: userOf, Logger: cfg.Logger, Now: cfg.Now,
		},
	}
	for _, r := range routes {
		s.mux.HandleFunc(r.pattern, func(w http.ResponseWriter, req *http.Request) { s.guarded(w, req, r) })
	}
	// An unknown path is refused like any other to a client without the right to ask for it.
	s.mux.HandleFunc("/", func(w http.ResponseWriter, req *http.Request) {
		s.guarded(w, req, route{subresource: proxySubresource, serve: func(_ *Server, w http.ResponseWriter, req *http.Request) { http.NotFound(w, req) }})
	})
	return s
}

const (
	// headerTimeout is how long a client may take to say what it wants, idleTimeout how long it may say nothing after
	// that.
	headerTimeout = 10 * time.Second
	idleTimeout   = 90 * time.Second
	// listenRetry is the time between attempts to get the port.
	listenRetry = 5 * time.Second
	// endTimeout is how long requests may go on when the agent ends.
	endTimeout = 2 * time.Second
)

// Run serves until ctx is done. A port that others have is tried for again and again.
func (s *Server) Run(ctx context.Context) {
	said := ""
	for {
		err := s.serve(ctx)
		if ctx.Err() != nil {
			return
		}
		if text := err.Error(); said != text {
			s.cfg.Logger.Error("the node's API is not served; trying again", "listen", s.cfg.Listen, "err", err)
			said = text
		}
		timer := time.NewTimer(listenRetry)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

func (s *Server) serve(ctx context.Context) error {
	if _, err := s.files.config(nil); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.cfg.Listen)
	if err != nil {
		return err
	}
	s.cfg.Logger.Info("the node's API is served", "listen", listener.Addr().String())
	server := &http.Server{
		Handler: s.mux, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, BaseContext: func(net.Listener) context.Context { return ctx },
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: s.files.config},
		ErrorLog:  slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelDebug),
	}
	inner, cancel := context.WithCancel(ctx)
	var ending sync.WaitGroup
	ending.Go(func() {
		<-inner.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		if server.Shutdown(grace) != nil {
			_ = server.Close() // what does not end by itself is cut off
		}
	})
	defer func() { cancel(); ending.Wait() }()
	// HTTP/2 cannot be upgraded, as exec must be.
	server.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
	err = server.ServeTLS(listener, "", "")
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// guarded serves a route to those who may.
func (s *Server) guarded(w http.ResponseWriter, req *http.Request, r route) {
	user, err := s.auth.user(req)
	if err != nil {
		s.cfg.Logger.Debug("a request to the node's API is refused", "from", req.RemoteAddr, "path", req.URL.Path, "err", err)
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
		r.serve(s, w, req.WithContext(context.WithValue(req.Context(), userKey{}, user)))
	}
}

func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	if err := s.cfg.Health(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = io.WriteString(w, "ok") // a client that is gone needs no answer
}

func (s *Server) pods(w http.ResponseWriter, _ *http.Request) {
	list := s.cfg.Pods.PodList()
	list.Kind, list.APIVersion = "PodList", "v1"
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list) // a client that is gone needs no answer
}

func (s *Server) containerLogs(w http.ResponseWriter, req *http.Request) { s.streams.Logs(w, req) }

func (s *Server) exec(w http.ResponseWriter, req *http.Request) { s.streams.Exec(w, req) }
