package main

import (
	"context"

	"github.com/wardlet/wardlet/test/harness"
)

// The names of the pods in their manifests, and their images. The runtime has all images except the
// forbidden one.
const (
	web, other     = "web", "other"
	webImage       = "registry.example/web:1"
	otherImage     = "untrusted.example/web:1"
	forbiddenImage = "evil.example/web:1"
)

// tour is the demonstration, with what its steps store for later steps.
type tour struct {
	out  *screen
	node *node
	// web and other are the containers of the pods at the last observation.
	web, other observed
	// titled is true once the header of `get pods` was printed.
	titled bool
}

func (t *tour) steps() []step {
	return []step{
		{"An agent starts, with a containerd and a policy of its own, in D=" + t.node.Dir, t.startAgent},
		{"A manifest is dropped: the pod is admitted, runs and answers over HTTP.", t.runPod},
		{"A pod with an image from elsewhere is denied; reason and policy are named.", t.denyPod},
		{"The policy is edited: without a restart the verdict changes, and the denied pod runs.", t.editPolicy},
		{"The manifest of the running pod is edited to a forbidden image: the old container runs on.", t.keepPod},
		{"A container's process is killed: the container comes back.", t.killContainer},
		{"The agent is killed and started again: the same containers run on.", t.killAgent},
	}
}

func (t *tour) setUp(cfg harness.Config) ([]step, error) {
	cfg.Allow = []string{"registry.example/*"}
	made, err := harness.New(cfg)
	if err != nil {
		return nil, err
	}
	t.node, t.out.dir = &node{made}, made.Dir
	return t.steps(), nil
}

func (t *tour) cleanUp(ctx context.Context) error {
	if t.node == nil {
		return nil
	}
	return t.node.Close(ctx)
}

func (t *tour) agentLog() []string { return t.node.LogTail(20) }
