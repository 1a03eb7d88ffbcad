package nodeapi

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/logs"
)

// Containers is the runtime's access to containers.
type Containers interface {
	// LogPath returns the path of a container's log.
	LogPath(ctx context.Context, id string) (string, error)
	// Runs reports whether a container runs, as far as known.
	Runs(p *v1.Pod, id string) bool
	// ExecURL returns the runtime's URL for a program to run in a container.
	ExecURL(ctx context.Context, id string, what *Exec) (*url.URL, error)
	// AttachURL returns the runtime's URL for the main program of a container; Command is empty.
	AttachURL(ctx context.Context, id string, what *Exec) (*url.URL, error)
	// PortForwardURL returns the runtime's URL for connections to ports of a pod. ports is empty if
	// each connection names its own.
	PortForwardURL(ctx context.Context, p *v1.Pod, ports []int32) (*url.URL, error)
}

// Exec is a program to run in a container, and the requested streams.
type Exec struct {
	Command                    []string
	Stdin, Stdout, Stderr, TTY bool
}

// Streams serve the logs of containers, programs run in them, their main programs and connections
// to pods. They serve every request without checks: the caller must authenticate and authorize it.
// The path values name the container: namespace, pod, container and, if two pods have the same
// name, uid.
type Streams struct {
	Pods       Pods
	Containers Containers
	// Connections decides about connections; nil allows all. Source is the origin of the requests,
	// FromNodeAPI or FromSocket, and User returns the user of a request.
	Connections Connections
	Source      string
	User        func(*http.Request) (name string, groups []string)
	Logger      *slog.Logger
	Now         func() time.Time

	// open counts the connections to the runtime's streams.
	open atomic.Int32
}

// pod finds the pod that a request names. Of two pods with the same name, it prefers the one that
// is not being deleted.
func (s *Streams) pod(req *http.Request) (found *v1.Pod) {
	list := s.Pods.PodList()
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

// Logs serves the log of a container.
func (s *Streams) Logs(w http.ResponseWriter, req *http.Request) {
	o, code, err := logOptions(req.URL.Query(), s.Now())
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
	path, err := s.Containers.LogPath(req.Context(), id)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out := &flushed{w: w, control: http.NewResponseController(w)}
	err = logs.Copy(req.Context(), path, o.Options, o.output(out), func() bool { return s.Containers.Runs(p, id) })
	if err != nil && !out.wrote {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

// flushed sends data at once, because a client that follows a log waits for it.
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
