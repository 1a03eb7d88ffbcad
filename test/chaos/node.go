package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/server/client"
	"github.com/wardlet/wardlet/test/privateruntime"
)

// nodeName is the node's: a pod web is known as web-chaos.
const nodeName = "chaos"

// node is a runtime and an agent with roots of its own. It is for one goroutine, but for cri and api.
type node struct {
	dir      string
	wardlet  string
	runtime  *privateruntime.Runtime
	link     *grpc.ClientConn
	cri      criapi.RuntimeServiceClient
	api      *client.Client
	policies *policies
	agent    *agent
}

// newNode brings a runtime up and prepares an agent, which does not run yet. When it fails, nothing is left.
func newNode(ctx context.Context, wardlet, built string) (n *node, err error) {
	n = &node{}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close(context.WithoutCancel(ctx)))
		}
	}()
	if n.wardlet, err = filepath.Abs(wardlet); err != nil {
		return n, err
	}
	if _, err := os.Stat(n.wardlet); err != nil {
		return n, fmt.Errorf("the agent is not built: %w; run make build", err)
	}
	if n.dir, err = os.MkdirTemp("", "wardlet-chaos-"); err != nil {
		return n, err
	}
	for _, dir := range []string{n.path("manifests"), n.path("policies")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return n, err
		}
	}
	if n.policies, err = newPolicies(built, n.path("policies")); err != nil {
		return n, err
	}
	n.runtime, err = privateruntime.Start(ctx, privateruntime.Options{Name: "chaos-" + strconv.Itoa(os.Getpid())})
	if err != nil {
		return n, err
	}
	if n.link, err = privateruntime.Dial(n.runtime.Endpoint()); err != nil {
		return n, err
	}
	n.cri, n.api = criapi.NewRuntimeServiceClient(n.link), client.New(n.socket())
	return n, n.configure()
}

func (n *node) path(elem ...string) string {
	return filepath.Join(append([]string{n.dir}, elem...)...)
}

// cgroup is the name of the agent's cgroup root.
func (n *node) cgroup() string { return filepath.Base(n.dir) }

func (n *node) socket() string   { return n.path("run", "w.sock") }
func (n *node) agentLog() string { return n.path("agent.log") }

// runtimeSocket is containerd's, which its shims are told.
func (n *node) runtimeSocket() string { return strings.TrimPrefix(n.runtime.Endpoint(), "unix://") }

func (n *node) manifest(file string) string { return n.path("manifests", file) }

func (n *node) configure() error {
	text := fmt.Sprintf(`node_name = %q
log_level = "debug"
[paths]
state_root = %q
pod_root = %q
log_root = %q
socket = %q
cgroup_root = %q
[runtime]
endpoint = %q
[[source]]
name = "static"
kind = "file"
path = %q
period = "2s"
[policy]
dir = %q
`, nodeName, n.path("state"), n.path("root"), n.path("log"), n.socket(), "/"+n.cgroup(),
		n.runtime.Endpoint(), n.path("manifests"), n.policies.dir)
	return os.WriteFile(n.path("agent.toml"), []byte(text), 0o600)
}

// startAgent starts it and does not wait until it answers.
func (n *node) startAgent() (err error) {
	n.agent, err = startAgentProcess(n.agentLog(), n.wardlet, "run", "--config", n.path("agent.toml"))
	return err
}

// close takes all away. What is not there is no error.
func (n *node) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	var failed []error
	if n.agent != nil {
		failed = append(failed, n.agent.kill())
	}
	if n.link != nil {
		failed = append(failed, n.link.Close())
	}
	if n.runtime != nil {
		failed = append(failed, n.runtime.Thaw(), n.runtime.Stop(ctx))
		for _, left := range n.runtime.Leftovers() {
			failed = append(failed, fmt.Errorf("left of runtime %s: %s", n.runtime.Name(), left))
		}
	}
	if n.dir != "" {
		failed = append(failed, n.removeCgroups(), n.removeDir())
	}
	return errors.Join(failed...)
}

// removeCgroups takes away what a run that failed left of the agent's.
func (n *node) removeCgroups() error {
	left, err := cgroupsNamed(n.cgroup())
	for _, dir := range slices.Backward(left) {
		err = errors.Join(err, os.Remove(dir))
	}
	return err
}

// removeDir unmounts what a run that failed left in the directory, and removes it.
func (n *node) removeDir() error {
	mounts, err := mountsBelow(n.dir)
	for _, point := range slices.Backward(mounts) {
		err = errors.Join(err, unmount(point))
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(n.dir)
}
