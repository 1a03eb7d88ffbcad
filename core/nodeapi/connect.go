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

// The kinds of connections, and the origins of the requests for them.
const (
	kindExec        = "exec"
	kindAttach      = "attach"
	kindPortForward = "portforward"

	FromNodeAPI = "node-api"
	FromSocket  = "socket"
)

// Connections decides which connections to pods are allowed.
type Connections interface {
	// Connect returns nil if a connection to a pod is allowed. Otherwise the error has the reason and
	// the policy. Connect waits for the answer until ctx ends.
	Connect(ctx context.Context, p *v1.Pod, c *Connection) error
}

// mayConnect reports whether the user of a request may connect to a pod, and refuses the request if
// not. It must be called after the request is known to be possible, and before the runtime is
// asked.
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

// userOf returns the user of a request that passed the guard.
func userOf(req *http.Request) (name string, groups []string) {
	if u, ok := req.Context().Value(userKey{}).(*user); ok {
		return u.name, u.groups
	}
	return "", nil
}
