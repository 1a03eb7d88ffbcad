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

// Containers are what the runtime has.
type Containers interface {
	// LogPath returns where the log of a container is.
	LogPath(ctx context.Context, id string) (string, error)
	// Runs reports whether a container runs, for all that is known.
	Runs(p *v1.Pod, id string) bool
	// ExecURL returns where the runtime streams a program that it runs in a container.
	ExecURL(ctx context.Context, id string, what *Exec) (*url.URL, error)
	// AttachURL returns where the runtime streams the main program of a container; Command is empty.
	AttachURL(ctx context.Context, id string, what *Exec) (*url.URL, error)
	// PortForwardURL returns where the runtime streams connections to ports of a pod. ports is empty where each connection
	// names its own.
	PortForwardURL(ctx context.Context, p *v1.Pod, ports []int32) (*url.URL, error)
}

// Exec is a program to run in a container, and which of its streams are wanted.
type Exec struct {
	Command                    []string
	Stdin, Stdout, Stderr, TTY bool
}

// Streams serve the logs of containers, programs run in them, their main programs and connections to pods. They serve every
// request that reaches them: it is authenticated and authorized before. Its path values name the container: namespace, pod,
// container and, where two pods have one name, uid.
type Streams struct {
	Pods       Pods
	Containers Containers
	// Connections decide about connections; nil lets all be made. Source is where the requests come from, FromNodeAPI or
	// FromSocket, and User returns who made one.
	Connections Connections
	Source      string
	User        func(*http.Request) (name string, groups []string)
	Logger      *slog.Logger
	Now         func() time.Time

	// open counts the connections to the runtime's streams.
	open atomic.Int32
}

// pod finds the pod that a request names. Of two of one name it is the one that is not being deleted.
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
