package agent

import (
	"context"
	"fmt"
	"net/url"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/logs/rotate"
	"github.com/wardlet/wardlet/core/nodeapi"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/runtime"
	"github.com/wardlet/wardlet/core/server"
	"github.com/wardlet/wardlet/core/status"
)

// nodeAPI returns the server of the node's API, nil for an agent that serves none.
func (n *Node) nodeAPI() (*nodeapi.Server, error) {
	c := &n.cfg.NodeAPI
	if !c.Served() && c.ReadOnlyListen == "" && c.HealthzListen == "" {
		return nil, nil
	}
	cfg := nodeapi.Config{
		ReadOnlyListen: c.ReadOnlyListen, HealthzListen: c.HealthzListen, Node: n.node,
		Pods: n, Containers: streamed{n}, Connections: n.connections(), Metrics: n.meters.Metrics.Handler(), Stats: n.stats, Configz: n.configz, Health: n.health.Healthy, Logger: n.log, Now: time.Now,
	}
	if c.Served() {
		cfg.Listen, cfg.CertFile, cfg.KeyFile, cfg.ClientCAFile = c.Listen, c.CertFile, c.KeyFile, c.ClientCAFile
	}
	if c.Served() && n.apiClient != nil {
		// This API uses a client of its own: any caller that reaches the port causes requests, which must
		// not delay the renewal of the node's lease.
		client, err := parts.APIClient(n.cfg, n.log)
		if err != nil {
			return nil, err
		}
		n.reviewClient, cfg.Client = client, client
	}
	return nodeapi.New(cfg), nil
}

// streams serves logs of containers and programs in containers to users of the local socket.
func (n *Node) streams() *nodeapi.Streams {
	return &nodeapi.Streams{
		Pods: n, Containers: streamed{n}, Connections: n.connections(), Source: nodeapi.FromSocket, User: server.UserOf, Logger: n.log, Now: time.Now,
	}
}

// streamed implements nodeapi.Containers with the containers of this node.
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

// AttachURL implements nodeapi.Containers.
func (s streamed) AttachURL(ctx context.Context, id string, what *nodeapi.Exec) (*url.URL, error) {
	return s.node.runtime.AttachURL(ctx, id, runtime.ExecStreams(*what))
}

// PortForwardURL implements nodeapi.Containers.
func (s streamed) PortForwardURL(ctx context.Context, p *v1.Pod, ports []int32) (*url.URL, error) {
	seen, err := s.node.cache.Get(p.UID)
	for i := range seen.Sandboxes {
		if seen.Sandboxes[i].Ready {
			return s.node.runtime.PortForwardURL(ctx, seen.Sandboxes[i].ID, ports)
		}
	}
	if err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("pod %q has no sandbox that is ready; try again when it runs", p.Name)
}

// logRotator returns the rotator for the logs of containers.
func (n *Node) logRotator() *rotate.Rotator {
	return rotate.New(rotate.Config{
		Pods: n.inspectedPods, Reopen: n.runtime.ReopenLog, Events: n.recorder,
		MaxSize: n.cfg.Runtime.MaxLogSize(), MaxFiles: n.cfg.Runtime.ContainerLogMaxFiles, Log: n.log, Now: time.Now,
	})
}

// inspectedPods returns the pods of this installation as they were last inspected.
func (n *Node) inspectedPods() []status.ObservedPod {
	known := n.knownPods()
	pods := make([]status.ObservedPod, 0, len(known))
	for _, listed := range known {
		// After a failed inspection, the cache returns the previous result.
		p, _ := n.cache.Get(listed.UID)
		pods = append(pods, p)
	}
	return pods
}
