package nodeapi

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"github.com/wardlet/wardlet/core/pod"
)

// Exec runs a program in a container: the runtime does, and what the client and it say to each other passes here as it
// is, whichever protocol they speak.
func (s *Streams) Exec(w http.ResponseWriter, req *http.Request) {
	p := s.pod(req)
	name := req.PathValue("container")
	if p == nil || !hasContainer(p, name) {
		http.Error(w, fmt.Sprintf("pod %q or its container %q does not exist", req.PathValue("pod"), name), http.StatusNotFound)
		return
	}
	st := pod.ContainerStatus(&p.Status, name)
	if st == nil || st.State.Running == nil {
		http.Error(w, fmt.Sprintf("container %q of pod %q does not run", name, p.Name), http.StatusBadRequest)
		return
	}
	what := execOf(req.URL.Query())
	if !what.Stdin && !what.Stdout && !what.Stderr {
		http.Error(w, "you must specify at least 1 of stdin, stdout, stderr", http.StatusBadRequest)
		return
	}
	if !s.mayConnect(w, req, p, &Connection{Kind: kindExec, Container: name, Command: what.Command}) {
		return
	}
	target, err := s.Containers.ExecURL(req.Context(), bareID(st.ContainerID), what)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s.stream(w, req, target)
}

// execOf reads what a request wants to run. The API server and old clients name the streams in two ways.
func execOf(query url.Values) *Exec {
	on := func(names ...string) bool {
		for _, name := range names {
			if v := query.Get(name); v == "1" || v == "true" {
				return true
			}
		}
		return false
	}
	return &Exec{
		Command: query["command"], TTY: on("tty"),
		Stdin: on("input", "stdin"), Stdout: on("output", "stdout"), Stderr: on("error", "stderr") && !on("tty"),
	}
}

// stream connects a client with a stream of the runtime, until one of them ends it.
func (s *Streams) stream(w http.ResponseWriter, req *http.Request, target *url.URL) {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL, r.Out.Host = target, target.Host
			r.Out.Header.Del("Authorization") // it is for the node
		},
		FlushInterval: -1,
		ErrorLog:      slog.NewLogLogger(s.Logger.Handler(), slog.LevelDebug),
		Transport:     &http.Transport{ResponseHeaderTimeout: time.Minute, DisableKeepAlives: true},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, "the runtime's stream: "+err.Error(), http.StatusBadGateway)
		},
	}
	proxy.ServeHTTP(w, req)
}

// bareID is a container's ID without the name of its runtime.
func bareID(id string) string {
	_, bare, ok := strings.Cut(id, "://")
	if !ok {
		return id
	}
	return bare
}
