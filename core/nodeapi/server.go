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
	"net/url"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/kube"
	"github.com/wardlet/wardlet/core/logs"
)

// Pods are the pods of this node.
type Pods interface {
	// PodList returns the pods with their statuses.
	PodList() *v1.PodList
}

// Containers are what the runtime has.
type Containers interface {
	// LogPath returns where the log of a container is.
	LogPath(ctx context.Context, id string) (string, error)
	// Runs reports whether a container runs, for all that is known.
	Runs(p *v1.Pod, id string) bool
	// ExecURL returns where the runtime streams a program that it runs in a container.
	ExecURL(ctx context.Context, id string, what *Exec) (*url.URL, error)
}

// Exec is a program to run in a container, and which of its streams are wanted.
type Exec struct {
	Command                    []string
	Stdin, Stdout, Stderr, TTY bool
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
		cfg: cfg, files: &keyPair{cert: cfg.CertFile, key: cfg.KeyFile, ca: cfg.ClientCAFile}, mux: http.NewServeMux(),
		auth: newAuthenticator(cfg.Client, cfg.Now),
		may:  &authorizer{client: cfg.Client, node: cfg.Node, now: cfg.Now, known: map[attributes]answer{}},
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
		r.serve(s, w, req)
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

// pod finds the pod that a request names. Of two of one name it is the one that is not being deleted.
func (s *Server) pod(req *http.Request) (found *v1.Pod) {
	list := s.cfg.Pods.PodList()
	for i := range list.Items {
		p := &list.Items[i]
		if p.Namespace == req.PathValue("namespace") && p.Name == req.PathValue("pod") && (req.PathValue("uid") == "" || string(p.UID) == req.PathValue("uid")) {
			if p.DeletionTimestamp == nil {
				return p
			}
			found = p
		}
	}
	return found
}

// containerLogs serves the log of a container.
func (s *Server) containerLogs(w http.ResponseWriter, req *http.Request) {
	o, code, err := logOptions(req.URL.Query(), s.cfg.Now())
	if err != nil {
		http.Error(w, err.Error(), code)
		return
	}
	p := s.pod(req)
	if p == nil {
		http.Error(w, fmt.Sprintf("pod %q does not exist", req.PathValue("pod")), http.StatusNotFound)
		return
	}
	name := req.PathValue("container")
	if !hasContainer(p, name) {
		http.Error(w, fmt.Sprintf("container %q not found in pod %q", name, p.Name), http.StatusNotFound)
		return
	}
	id, err := logContainer(p, name, o.previous)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	path, err := s.cfg.Containers.LogPath(req.Context(), id)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out := &flushed{w: w, control: http.NewResponseController(w)}
	err = logs.Copy(req.Context(), path, o.Options, o.output(out), func() bool { return s.cfg.Containers.Runs(p, id) })
	if err != nil && !out.wrote {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

// flushed sends what is written at once: who follows a log waits for it.
type flushed struct {
	w       io.Writer
	control *http.ResponseController
	wrote   bool
}

// Write implements io.Writer.
func (f *flushed) Write(p []byte) (int, error) {
	f.wrote = true
	n, err := f.w.Write(p)
	if err == nil {
		err = f.control.Flush()
	}
	return n, err
}
