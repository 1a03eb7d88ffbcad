package nodeapi

import (
	"context"
	"net/http"

	v1 "k8s.io/api/core/v1"
)

// Connection is a connection to a pod that a user requests. Its fields are those of api.Connection, in the same order.
type Connection struct {
	Kind, Source, Container string
	Command                 []string
	Ports                   []int32
	User                    string
	Groups                  []string
}

// The kinds of connections, and where requests for them come from.
const (
	kindExec        = "exec"
	kindAttach      = "attach"
	kindPortForward = "portforward"

	FromNodeAPI = "node-api"
	FromSocket  = "socket"
)

// Connections decide which connections to pods may be made.
type Connections interface {
	// Connect returns nil if a connection to a pod may be made, else an error that says why not and by which policy. It
	// waits for the answer, until ctx ends at most.
	Connect(ctx context.Context, p *v1.Pod, c *Connection) error
}

// mayConnect reports whether the user of a request may make a connection to a pod, and refuses the request otherwise. It is
// called once the request is known to be possible, before anything is asked of the runtime.
func (s *Streams) mayConnect(w http.ResponseWriter, req *http.Request, p *v1.Pod, c *Connection) bool {
	if s.Connections == nil {
		return true
	}
	c.Source = s.Source
	c.User, c.Groups = s.User(req)
	if err := s.Connections.Connect(req.Context(), p, c); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return false
	}
	return true
}

// userKey is the key of the user in the context of a request that passed the guard.
type userKey struct{}

// userOf returns who a request is from that passed the guard.
func userOf(req *http.Request) (name string, groups []string) {
	if u, ok := req.Context().Value(userKey{}).(*user); ok {
		return u.name, u.groups
	}
	return "", nil
}
