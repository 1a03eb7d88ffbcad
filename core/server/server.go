package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// shutdownTimeout is how long Serve waits for answers in progress.
const shutdownTimeout = 2 * time.Second

// Pods returns the pods of the agent, each with its newest status. The server does not change the
// pods.
type Pods interface {
	PodList() *v1.PodList
}

// Sources returns the state of each source, ordered by name, and the conflicts between documents
// that claim the same pod.
type Sources interface {
	Sources() []api.SourceState
	Conflicts() []api.Conflict
}

// Options are the data sources of a Server. All are required, but Policies, Waiting and Updates are
// nil for an agent without policies.
type Options struct {
	Pods Pods
	// PodChanges notifies when the result of Pods or Waiting may have changed. If it is nil, a watch
	// checks every two seconds.
	PodChanges Changes
	Sources    Sources
	Events     Events
	Policies   Policies
	Waiting    Waiting
	Updates    Updates
	Foreign    Foreign
	Version    api.Version
	Logger     *slog.Logger
	// Metrics serves the agent's metrics; nil for an agent without metrics.
	Metrics http.Handler
	// Logs serves the log of the container that the path values namespace, pod, uid and container
	// name. Exec serves programs in that container, Attach its main program, and PortForward
	// connections to the pod's ports. Each is nil if it is not served.
	Logs, Exec, Attach, PortForward http.Handler
	// Object returns the agent's node object; nil if it is not served.
	Object func() *v1.Node
	// Objects returns the state of the objects that pods name; nil if it is not served.
	Objects func() []api.Object
	// Stats measures CPU and memory; nil if they are not served.
	Stats Stats
	// Node is the node's name. A pod of the node's own sources can also be named without it.
	Node string
	// Origins returns the origin of each pod of this node, by UID; nil if unknown.
	Origins func() map[types.UID]api.Origin
	// Verdicts returns the verdicts that are stored with pods, by UID; nil if there are none.
	Verdicts func() map[types.UID]*api.Verdict
	// Now is the wall clock. Started is the start time of the agent; zero if unknown.
	Now     func() time.Time
	Started time.Time
}

// Server is the local API.
type Server struct {
	mux *http.ServeMux
	log *slog.Logger
	// watches is the number of watches. ending is closed when Serve ends, so that they end, too.
	watches atomic.Int32
	ending  chan struct{}

	// streams counts the logs and programs in containers that are being served.
	streams      sync.WaitGroup
	streamsMu    sync.Mutex
	streamsEnded bool
}

// New makes a server of these endpoints:
//
//	/v1/pods       a v1.PodList; ?env=show leaves the values of variables in; ?watch=true goes on, an api.WatchLine each
//	/v1/pods/NAMESPACE/POD            a v1.Pod; refused where there is none, with names like it
//	/v1/logs/NAMESPACE/POD/CONTAINER  its log as text, narrowed as by a kubelet's /containerLogs: ?follow=, previous=, tailLines=, sinceSeconds=, sinceTime=, timestamps=, limitBytes= and stream=
//	/v1/exec/NAMESPACE/POD/CONTAINER  also with POST, a program of ?command= for each word, with ?stdin=, stdout=, stderr= and tty=; goes on as SPDY or WebSocket, as with a kubelet
//	/v1/attach/NAMESPACE/POD/CONTAINER  the same of the program that the container runs, without ?command=
//	/v1/portforward/NAMESPACE/POD       also with POST, connections to ports of the pod; goes on as SPDY or, with ?port=, as WebSocket
//	/v1/waiting    []api.Waiting, also versions that are not judged yet; ?env=show as above
//	/v1/updates    []api.WaitingUpdate, those of pods that run and those that filters hold back
//	/v1/sources    []api.SourceState
//	/v1/conflicts  []api.Conflict
//	/v1/events     []api.Event, newest last; ?namespace= and name= narrow it; ?watch=true goes on, an api.WatchLine each
//	/v1/policies   []api.PolicySet, none for an agent without policies
//	/v1/policies/reload, /v1/policies/retry, /v1/policies/rollback  api.PolicyOutcome, with POST; ?tenant= for a tenant's
//	/v1/decisions  []api.Decision, newest last; ?namespace=, name=, hook=, answer=, policy=, tenant=, since= (RFC 3339) and limit= narrow it
//	/v1/explain    api.Timeline of the pod of ?namespace= and ?name=; refused where there is none, with names like it
//	/v1/foreign    api.ForeignPods; refused when the runtime does not answer in 2 s
//	/v1/node       a v1.Node, as pods and policies are judged by it
//	/v1/objects    []api.Object, what is known of the objects that pods name
//	/v1/stats      a summary of CPU and memory as in a kubelet's /stats/summary
//	/v1/version    api.Version
//	/metrics       the agent's metrics as Prometheus reads them
//
// where POD may be the name in a manifest, without the node's; and, with POST, of this one:
//
//	/v1/release    []api.WaitingUpdate, those of ?namespace= and ?name= that pass now; refused where there are none
func New(o Options) *Server {
	s := &Server{mux: http.NewServeMux(), log: o.Logger, ending: make(chan struct{})}
	s.servePods(&o)
	s.serveStreams(&o)
	s.get("/v1/waiting", func(r *http.Request) any { return waitingList(o.Waiting, showEnv(r)) })
	s.serveUpdates(o.Updates, o.Waiting)
	s.servePolicies(o.Policies, o.Node)
	s.serveExplain(&o)
	s.serveForeign(o.Foreign)
	s.get("/v1/sources", func(*http.Request) any { return o.Sources.Sources() })
	s.get("/v1/conflicts", func(*http.Request) any { return listed(o.Sources.Conflicts()) })
	s.serveEvents(&o)
	if o.Object != nil {
		s.get("/v1/node", func(*http.Request) any { return o.Object() })
	}
	if o.Objects != nil {
		s.get("/v1/objects", func(*http.Request) any { return listed(o.Objects()) })
	}
	s.serveStats(o.Stats)
	s.get("/v1/version", func(*http.Request) any { return o.Version })
	if o.Metrics != nil {
		s.mux.Handle("GET /metrics", o.Metrics)
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, fmt.Sprintf("this agent does not know %s %s", r.Method, r.URL.Path))
	})
	return s
}

func showEnv(r *http.Request) bool { return r.FormValue("env") == "show" }

// get serves the result of answer as JSON.
func (s *Server) get(path string, answer func(*http.Request) any) {
	s.getOrRefuse(path, func(r *http.Request) (any, error) { return answer(r), nil })
}

// getOrRefuse is like get for an answer that may fail.
func (s *Server) getOrRefuse(path string, answer func(*http.Request) (any, error)) {
	s.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
		value, err := answer(r)
		if err != nil {
			refuse(w, http.StatusServiceUnavailable, err.Error())
			return
		}
		s.answer(w, path, value)
	})
}

// answer writes a value as JSON.
func (s *Server) answer(w http.ResponseWriter, path string, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		s.log.Error("cannot encode an answer of the local API", "path", path, "error", err)
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(body, '\n')) // a client that left needs no answer
}

// refuse writes an error in the form that the client package expects.
func refuse(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": message})
}

// Serve answers on l, which it closes, until ctx ends. Then requests in progress have 2 s, and
// watches, logs and programs in containers end. It returns nil after an ordinary end. It must be
// called once.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{
		Handler:           ownerOnly(uint32(os.Geteuid()), s.mux),
		ConnContext:       withConn,
		ReadHeaderTimeout: 5 * time.Second,
		WriteTimeout:      time.Minute,
		IdleTimeout:       time.Minute,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	srv.RegisterOnShutdown(sync.OnceFunc(func() { close(s.ending) }))
	ctx, cancel := context.WithCancel(ctx)
	var stopper sync.WaitGroup
	stopper.Go(func() {
		<-ctx.Done()
		bounded, done := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer done()
		if srv.Shutdown(bounded) != nil {
			srv.Close()
		}
	})
	err := srv.Serve(l)
	cancel()
	stopper.Wait()
	s.endStreams()
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("local API on %s: %w", l.Addr(), err)
	}
	return nil
}
