package agent

import (
	"context"
	"net/url"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/nodeapi"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/runtime"
	"github.com/wardlet/wardlet/core/server"
	"github.com/wardlet/wardlet/core/status"
)

// nodeAPI returns the server of the node's API, nil for an agent that serves none.
func (n *Node) nodeAPI() (*nodeapi.Server, error) {
	c := &n.cfg.NodeAPI
	if !c.Served() || n.apiClient == nil {
		return nil, nil
	}
	// A client of its own: any client that reaches the port causes requests, which must not hold up the node's lease.
	client, err := parts.APIClient(n.cfg, n.log)
	if err != nil {
		return nil, err
	}
	n.reviewClient = client
	return nodeapi.New(nodeapi.Config{
		Listen: c.Listen, Node: n.node, CertFile: c.CertFile, KeyFile: c.KeyFile, ClientCAFile: c.ClientCAFile,
		Client: client, Pods: n, Containers: streamed{n}, Connections: n.connections(), Health: n.health.Healthy, Logger: n.log, Now: time.Now,
	}), nil
}

// streams serve logs and programs in containers to those who may use the local socket.
func (n *Node) streams() *nodeapi.Streams {
	return &nodeapi.Streams{
		Pods: n, Containers: streamed{n}, Connections: n.connections(), Source: nodeapi.FromSocket, User: server.UserOf, Logger: n.log, Now: time.Now,
	}
}

// streamed are the containers of this node, for those who read their logs and run programs in them.
type streamed struct{ node *Node }

// LogPath implements nodeapi.Containers.
func (s streamed) LogPath(ctx context.Context, id string) (string, error) {
	return s.node.runtime.LogPath(ctx, id)
}

// Runs implements nodeapi.Containers.
func (s streamed) Runs(p *v1.Pod, id string) bool {
	seen, err := s.node.cache.Get(p.UID)
	if err != nil {
		return true
	}
	for i := range seen.Containers {
		if seen.Containers[i].ID == id {
			return seen.Containers[i].State == status.StateRunning
		}
	}
	return false
}

// ExecURL implements nodeapi.Containers.
func (s streamed) ExecURL(ctx context.Context, id string, what *nodeapi.Exec) (*url.URL, error) {
	return s.node.runtime.ExecURL(ctx, id, runtime.ExecStreams(*what))
}
