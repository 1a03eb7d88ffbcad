//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// wipe removes everything from the runtime, as when its state is lost, and
// returns the highest attempt that a container had.
func (n node) wipe(t *testing.T) uint32 {
	t.Helper()
	containers, err := n.CRI.ListContainers(t.Context(), &criapi.ListContainersRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var highest uint32
	for _, c := range containers.GetContainers() {
		highest = max(highest, c.GetMetadata().GetAttempt())
		if _, err := n.CRI.RemoveContainer(t.Context(), &criapi.RemoveContainerRequest{ContainerId: c.GetId()}); err != nil {
			t.Fatal(err)
		}
	}
	sandboxes, err := n.CRI.ListPodSandbox(t.Context(), &criapi.ListPodSandboxRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sandboxes.GetItems() {
		if _, err := n.CRI.StopPodSandbox(t.Context(), &criapi.StopPodSandboxRequest{PodSandboxId: s.GetId()}); err != nil {
			t.Fatal(err)
		}
		if _, err := n.CRI.RemovePodSandbox(t.Context(), &criapi.RemovePodSandboxRequest{PodSandboxId: s.GetId()}); err != nil {
			t.Fatal(err)
		}
	}
	return highest
}

// outcomes returns the files of the outcomes on the agent's disk.
func (a *agent) outcomes(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(a.Path("state", "outcomes", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestAPodThatEndedIsNotStartedAgainWhenTheRuntimeHasLostIt(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "done")
	a.start(t)
	a.manifest(t, "job.yaml", hostPod("job", "exit", "-code", `"0"`)+"  restartPolicy: Never\n")
	var now v1.Pod
	succeeded := func(ctx context.Context) error {
		pods, err := a.pods(ctx)
		if err != nil {
			return err
		}
		if now = pods["job-done"]; now.Status.Phase != v1.PodSucceeded {
			return fmt.Errorf("phase %q", now.Status.Phase)
		}
		return nil
	}
	eventually(t, "the pod succeeds", succeeded)
	before := now
	// The outcome is on the disk before it is shown.
	a.kill()
	if files := a.outcomes(t); len(files) != 1 {
		t.Fatalf("%d outcomes on the disk, want 1: %v", len(files), files)
	}
	n.wipe(t)

	a.start(t)
	a.settled(t)
	eventually(t, "the pod is known to have succeeded", succeeded)
	steadily(t, 3*time.Second, "nothing is started", func(ctx context.Context) error {
		if made, err := n.marked(ctx, a.name); err != nil || made > 0 {
			return fmt.Errorf("%d sandboxes and containers: %w", made, err)
		}
		if err := succeeded(ctx); err != nil {
			return err
		}
		if diff := cmp.Diff(before.Status.ContainerStatuses, now.Status.ContainerStatuses); diff != "" {
			return fmt.Errorf("containers (-before +after):\n%s", diff)
		}
		return nil
	})
	for line := range strings.Lines(a.read(t, "agent.log")) {
		if strings.Contains(line, "level=ERROR") {
			t.Errorf("logged: %s", line)
		}
	}

	a.remove(t, "job.yaml")
	a.nothingLeft(t, n)
	eventually(t, "the outcome goes with the pod", func(context.Context) error {
		if files := a.outcomes(t); len(files) > 0 {
			return fmt.Errorf("left: %v", files)
		}
		return nil
	})
	// The same manifest makes a new pod.
	a.manifest(t, "job.yaml", hostPod("job", "exit", "-code", `"0"`)+"  restartPolicy: Never\n")
	eventually(t, "the pod runs again", func(ctx context.Context) error {
		if err := succeeded(ctx); err != nil {
			return err
		}
		if container(now) == container(before) {
			return errors.New("it is the old container")
		}
		return nil
	})
}

func TestARestartCountGoesOnWhenTheRuntimeHasLostThePod(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "count")
	a.start(t)
	a.manifest(t, "crash.yaml", hostPod("crash", "exit", "-code", `"3"`))
	var p v1.Pod
	// Then nothing happens for 10 s.
	backsOff := func(least int32) func(context.Context) error {
		return func(ctx context.Context) error {
			pods, err := a.pods(ctx)
			if err != nil {
				return err
			}
			p = pods["crash-count"]
			for _, c := range p.Status.ContainerStatuses {
				if c.RestartCount >= least && c.State.Waiting != nil && c.State.Waiting.Reason == "CrashLoopBackOff" {
					return nil
				}
			}
			return fmt.Errorf("status is %+v", p.Status)
		}
	}
	eventually(t, "the container was restarted", backsOff(1))
	a.stop(t)
	count := n.wipe(t)
	logs := a.Path("log", "pods", "default_crash-count_"+string(p.UID))
	if err := os.RemoveAll(logs); err != nil {
		t.Fatal(err)
	}

	a.start(t)
	next := fmt.Sprintf("%d.log", count+1)
	eventually(t, "the container goes on with "+next, func(context.Context) error {
		entries, err := os.ReadDir(filepath.Join(logs, "main"))
		if errors.Is(err, fs.ErrNotExist) || len(entries) == 0 {
			return errors.New("it was not started")
		}
		if err != nil || entries[0].Name() != next {
			t.Fatalf("the first log is %s: %v", entries[0].Name(), err)
		}
		return nil
	})
	eventually(t, "the count is shown", backsOff(int32(count+1)))
	a.remove(t, "crash.yaml")
	a.nothingLeft(t, n)
}

// read returns a file of the agent.
func (a *agent) read(t *testing.T, elem ...string) string {
	t.Helper()
	text, err := os.ReadFile(a.Path(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
