package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"google.golang.org/grpc"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/test/privateruntime"
)

// Config says which node to make.
type Config struct {
	// Name tells what the node is for; it is part of the names of all it makes: at most 12 lower-case letters.
	Name string
	// Wardlet is the program, Policies the directory `make plugins` wrote.
	Wardlet, Policies string
	// Allow are the images its policy allows, as patterns.
	Allow []string
}

// Name is the node's name: a pod web is known here as web-edge.
const Name = "edge"

// Node is a node that New made.
type Node struct {
	// Dir holds all of the agent: agent.toml, manifests, policies, state, pods and logs.
	Dir     string
	wardlet string
	policy  *policy
	// name is the runtime's.
	name    string
	runtime *privateruntime.Runtime
	// connection is that to the runtime.
	connection *grpc.ClientConn
	cri        criapi.RuntimeServiceClient
	// agent is the agent's process, nil before the first Start.
	agent *process
}

// New makes a node of which nothing runs yet. When it fails, nothing is left.
func New(cfg Config) (*Node, error) {
	wardlet, err := filepath.Abs(cfg.Wardlet)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(wardlet); err != nil {
		return nil, fmt.Errorf("the agent is not built: %w; run make build", err)
	}
	n := &Node{wardlet: wardlet, name: cfg.Name + "-" + strconv.Itoa(os.Getpid())}
	if n.policy, err = readPolicy(cfg.Policies); err != nil {
		return nil, err
	}
	if n.Dir, err = os.MkdirTemp("", "wardlet-"+cfg.Name+"-"); err != nil {
		return nil, err
	}
	if err := n.fill(cfg); err != nil {
		return nil, errors.Join(err, os.RemoveAll(n.Dir))
	}
	return n, nil
}

func (n *Node) fill(cfg Config) error {
	for _, dir := range []string{n.manifests(), n.policies()} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	return n.Allow(cfg.Allow...)
}

// StartRuntime brings the runtime up and writes the agent's configuration, which names it.
func (n *Node) StartRuntime(ctx context.Context) error {
	var err error
	if n.runtime, err = privateruntime.Start(ctx, privateruntime.Options{Name: n.name}); err != nil {
		return err
	}
	if n.connection, err = privateruntime.Dial(n.runtime.Endpoint()); err != nil {
		return err
	}
	n.cri = criapi.NewRuntimeServiceClient(n.connection)
	return n.configure()
}

// Allow writes the policy with another list of allowed images.
func (n *Node) Allow(patterns ...string) error { return n.policy.write(n.policies(), patterns) }

// Path is the path of what lies in the node's directory.
func (n *Node) Path(elem ...string) string { return filepath.Join(append([]string{n.Dir}, elem...)...) }

func (n *Node) manifests() string { return n.Path("manifests") }
func (n *Node) policies() string  { return n.Path("policies") }

// cgroup is the name of the agent's cgroup root.
func (n *Node) cgroup() string { return filepath.Base(n.Dir) }
