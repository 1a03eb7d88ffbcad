//go:build e2e

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

var cuts = flag.Int("cuts", 5, "how many starts are cut off; make soak takes 10")

// containerd may keep a container whose start was cut off because the agent was killed while
// containerd was frozen. Of ten such containers it keeps some in most runs.
func TestStartsThatAreCutOffLeaveNothingOnceContainerdIsStartedAgain(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	node, err := newNode(ctx, builtAgent(t), "../../build/policies")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := node.close(context.WithoutCancel(ctx)); err != nil {
			t.Error(err)
		}
	}()
	r := &run{
		options: options{form: formFor(time.Minute), out: t.Output(), report: t.Output(), logs: "../../build/chaos"},
		node:    node, ledger: newLedger(shapes(), time.Now()), findings: &findings{}, timeline: &timeline{out: t.Output()}, slow: 2,
	}
	for i := range *cuts {
		if err := cutOff(ctx, node, shapes()[0], fmt.Sprintf("cut-%02d", i)); err != nil {
			r.keep()
			t.Fatal(err)
		}
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	if empty, err := r.empty(ctx); err != nil || !empty {
		t.Errorf("something is left: %v", err)
		r.explain(r.findings.all())
	}
}

// cutOff makes an agent start a pod, freezes containerd when the container is about to start, kills
// the agent and thaws containerd.
func cutOff(ctx context.Context, n *node, s *shape, name string) error {
	before, err := look(ctx, n.Runtime.CRI, patience)
	if err != nil {
		return err
	}
	if err := os.WriteFile(n.Manifest(name+".yaml"), []byte(s.manifest(name, 1, imageOne)), 0o600); err != nil {
		return err
	}
	if err := n.Start(); err != nil {
		return err
	}
	for { // until the container exists: its start is requested at once
		answer, err := n.Runtime.CRI.ListContainers(ctx, &criapi.ListContainersRequest{})
		if err != nil {
			return err
		}
		if len(answer.GetContainers()) > len(before.containers) {
			break
		}
		if err := pause(ctx, time.Millisecond); err != nil {
			return err
		}
	}
	if err := pause(ctx, 10*time.Millisecond); err != nil {
		return err
	}
	if err := n.Runtime.Freeze(); err != nil {
		return err
	}
	if err := pause(ctx, time.Second); err != nil { // runc continues
		return err
	}
	if err := n.kill(); err != nil {
		return err
	}
	if err := n.Runtime.Thaw(); err != nil {
		return err
	}
	return pause(ctx, 500*time.Millisecond)
}
