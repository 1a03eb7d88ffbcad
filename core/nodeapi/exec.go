package nodeapi

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Exec runs a program in a container. The runtime runs the program. Exec passes the data between
// client and runtime on unchanged, in any protocol.
func (s *Streams) Exec(w http.ResponseWriter, req *http.Request) {
	s.program(w, req, kindExec, func(_ *v1.Container, id string, what *Exec) (*url.URL, error) {
		return s.Containers.ExecURL(req.Context(), id, what)
	})
}

// Attach connects a client to the main program of a container, in the same way as Exec.
func (s *Streams) Attach(w http.ResponseWriter, req *http.Request) {
	s.program(w, req, kindAttach, func(c *v1.Container, id string, what *Exec) (*url.URL, error) {
		// A program's terminal is fixed at its start.
		what.TTY = c.TTY
		what.Stderr = what.Stderr && !c.TTY
		return s.Containers.AttachURL(req.Context(), id, what)
	})
}

// program connects a client to a program in the container that a request names. find returns the
// runtime's URL of the stream.
func (s *Streams) program(w http.ResponseWriter, req *http.Request, kind string, find func(c *v1.Container, id string, what *Exec) (*url.URL, error)) {
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
	if kind == kindAttach {
		what.Command = nil
	}
	if !s.mayConnect(w, req, p, &Connection{Kind: kind, Container: name, Command: what.Command}) {
		return
	}
	c, _ := pod.Container(p, name)
	s.stream(w, req, func() (*url.URL, error) { return find(c, bareID(st.ContainerID), what) })
}

// execOf parses the program to run. The API server and old clients use different names for the
// streams.
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

// bareID is a container's ID without the name of its runtime.
func bareID(id string) string {
	_, bare, ok := strings.Cut(id, "://")
	if !ok {
		return id
	}
	return bare
}
