package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// serveStreams serves a pod by its name, the logs of its containers, programs that run in
// them, and connections to its ports.
func (s *Server) serveStreams(o *Options) {
	s.mux.HandleFunc("GET /v1/pods/{namespace}/{pod}", func(w http.ResponseWriter, r *http.Request) {
		if p := namedPod(o, w, r); p != nil {
			s.answer(w, "/v1/pods", podShown(p, showEnv(r)))
		}
	})
	if o.Logs != nil {
		s.mux.HandleFunc("GET /v1/logs/{namespace}/{pod}/{container}", s.stream(o, o.Logs))
	}
	for path, serve := range map[string]http.Handler{
		"/v1/exec/{namespace}/{pod}/{container}":   o.Exec,
		"/v1/attach/{namespace}/{pod}/{container}": o.Attach,
		"/v1/portforward/{namespace}/{pod}":        o.PortForward,
	} {
		if serve != nil {
			s.mux.HandleFunc("GET "+path, s.stream(o, serve))
			s.mux.HandleFunc("POST "+path, s.stream(o, serve))
		}
	}
}

// namedPod returns the pod that the path names. If there is none, it refuses the request and
// returns nil.
func namedPod(o *Options, w http.ResponseWriter, r *http.Request) *v1.Pod {
	asked := podName{namespace: r.PathValue("namespace"), name: r.PathValue("pod"), node: o.Node}
	list := o.Pods.PodList()
	if p := asked.find(list.Items); p != nil {
		return p
	}
	known := make([]string, len(list.Items))
	for i := range list.Items {
		known[i] = list.Items[i].Namespace + "/" + list.Items[i].Name
	}
	refuse(w, http.StatusNotFound, asked.unknown(known))
	return nil
}

// stream serves an answer that may last as long as its client and the agent. serve gets the pod's
// own name and its UID in the path values. When the agent ends, it breaks the connection: a regular
// end would mean that the container has ended.
func (s *Server) stream(o *Options, serve http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.beginStream() {
			refuse(w, http.StatusServiceUnavailable, "the agent is ending")
			return
		}
		defer s.streams.Done()
		p := namedPod(o, w, r)
		if p == nil {
			return
		}
		container := r.PathValue("container") // empty where the path has none
		if names := containerNames(p); container != "" && !slices.Contains(names, container) {
			refuse(w, http.StatusNotFound, fmt.Sprintf("pod %s/%s has no container %q; it has %s", p.Namespace, p.Name, container, strings.Join(names, ", ")))
			return
		}
		r.SetPathValue("pod", p.Name)
		r.SetPathValue("uid", string(p.UID))
		// A client may read as slowly as it wants.
		if err := http.NewResponseController(w).SetWriteDeadline(time.Time{}); err != nil {
			refuse(w, http.StatusInternalServerError, err.Error())
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		var watching sync.WaitGroup
		watching.Go(func() {
			select {
			case <-ctx.Done():
			case <-s.ending:
				if conn, ok := r.Context().Value(connKey{}).(net.Conn); ok {
					conn.Close()
				}
				cancel()
			}
		})
		defer func() { cancel(); watching.Wait() }()
		serve.ServeHTTP(w, r.WithContext(ctx))
	}
}

// beginStream counts a stream. It returns false if the server is ending.
func (s *Server) beginStream() bool {
	s.streamsMu.Lock()
	defer s.streamsMu.Unlock()
	if !s.streamsEnded {
		s.streams.Add(1)
	}
	return !s.streamsEnded
}

// endStreams waits for the streams to end, which they do when the server ends.
func (s *Server) endStreams() {
	s.streamsMu.Lock()
	s.streamsEnded = true
	s.streamsMu.Unlock()
	s.streams.Wait()
}

// containerNames returns the names of a pod's containers.
func containerNames(p *v1.Pod) (names []string) {
	for c := range pod.Containers(p) {
		names = append(names, c.Name)
	}
	return names
}
