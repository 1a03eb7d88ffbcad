//go:build e2e

package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// many is how many pods are removed at once, and how many pods two agents start at once.
var many = flag.Int("many", 20, "how many pods there are where they are many; make soak takes 60")

// leftBehind returns how much is left of an agent's pods in the runtime, in its
// directories and in the cgroup hierarchies.
func (a *agent) leftBehind(ctx context.Context, n node) (int, error) {
	left, err := n.marked(ctx, a.name)
	if err != nil {
		return 0, err
	}
	traces, err := a.Left()
	return left + len(traces), err
}

// containersIn counts the runtime's containers in a state.
func (n node) containersIn(ctx context.Context, state criapi.ContainerState) (int, error) {
	list, err := n.CRI.ListContainers(ctx, &criapi.ListContainersRequest{
		Filter: &criapi.ContainerFilter{State: &criapi.ContainerStateValue{State: state}},
	})
	return len(list.GetContainers()), err
}

func TestWhatManyPodsLeaveGoesAtOnce(t *testing.T) {
	n := startNode(t)
	a := newAgent(t, n, "many")
	binary, err := plainBinary()
	if err != nil {
		t.Fatal(err)
	}
	a.Program = binary
	a.start(t)
	var names, files []string
	for i := range *many {
		name := fmt.Sprintf("web-%d", i)
		names, files = append(names, name), append(files, name+".yaml")
		a.manifest(t, name+".yaml", hostPod(name, "sleep"))
	}
	a.running(t, names...)
	begun := time.Now()
	a.remove(t, files...)
	promptly(t, "all containers have stopped", func(ctx context.Context) error {
		running, err := n.containersIn(ctx, criapi.ContainerState_CONTAINER_RUNNING)
		if err != nil || running > 0 {
			return fmt.Errorf("%d run, %w", running, err)
		}
		return nil
	})
	stopped := time.Now()
	promptly(t, "nothing is left", func(ctx context.Context) error {
		left, err := a.leftBehind(ctx, n)
		if err != nil || left > 0 {
			return fmt.Errorf("%d things are left, %w", left, err)
		}
		return nil
	})
	took := time.Since(stopped)
	t.Logf("%d pods: the last container stopped after %s, nothing was left %s later", *many, stopped.Sub(begun).Round(time.Millisecond), took.Round(time.Millisecond))
	// What is not collected at once waits for a minute. `make bench` measures how long
	// collection takes, in comparison with a kubelet.
	if limit := 20 * time.Second; took > limit {
		t.Errorf("something was left for %s, want %s at most", took, limit)
	}
	a.nothingLeft(t, n)
}

func TestWhatEndedWhileNoAgentRanGoesAsSoonAsItsSourceIsHeard(t *testing.T) {
	n := startNode(t)
	a := newAgent(t, n, "away")
	a.start(t)
	a.manifest(t, "gone.yaml", hostPod("gone", "sleep"))
	a.manifest(t, "stays.yaml", hostPod("stays", "sleep"))
	before := container(a.running(t, "gone", "stays")["stays"])
	a.stop(t)
	sandboxes, err := n.CRI.ListPodSandbox(t.Context(), &criapi.ListPodSandboxRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sandboxes.GetItems() {
		if s.GetMetadata().GetName() == "gone-"+a.name {
			if _, err := n.CRI.StopPodSandbox(t.Context(), &criapi.StopPodSandboxRequest{PodSandboxId: s.GetId()}); err != nil {
				t.Fatal(err)
			}
		}
	}
	a.remove(t, "gone.yaml")
	a.start(t)
	begun := time.Now()
	promptly(t, "only what stays is there", func(ctx context.Context) error {
		left, err := n.marked(ctx, a.name)
		dirs, dirErr := os.ReadDir(a.Path("root", "pods"))
		if err := errors.Join(err, dirErr); err != nil || left != 2 || len(dirs) != 1 {
			return fmt.Errorf("%d sandboxes and containers, %d directories, %w", left, len(dirs), err)
		}
		return nil
	})
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	if after := container(a.running(t, "stays")["stays"]); after != before {
		t.Errorf("container %s, then %s", before, after)
	}
	a.remove(t, "stays.yaml")
	a.nothingLeft(t, n)
}

func TestOneDeadInstanceOfAContainerStays(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "crashes")
	a.start(t)
	a.manifest(t, "crash.yaml", hostPod("crash", "exit", "-code", `"1"`))
	highest := func(ctx context.Context) (attempt uint32, number int, err error) {
		list, err := n.CRI.ListContainers(ctx, &criapi.ListContainersRequest{})
		for _, c := range list.GetContainers() {
			attempt = max(attempt, c.GetMetadata().GetAttempt())
		}
		return attempt, len(list.GetContainers()), err
	}
	promptly(t, "it has crashed twice", func(ctx context.Context) error {
		if attempt, _, err := highest(ctx); err != nil || attempt < 1 {
			return fmt.Errorf("attempt %d, %w", attempt, err)
		}
		dead, err := n.containersIn(ctx, criapi.ContainerState_CONTAINER_EXITED)
		if err != nil || dead == 0 {
			return fmt.Errorf("%d dead, %w", dead, err)
		}
		return nil
	})
	begun := time.Now()
	promptly(t, "one instance stays", func(ctx context.Context) error {
		if _, number, err := highest(ctx); err != nil || number != 1 {
			return fmt.Errorf("%d instances, %w", number, err)
		}
		return nil
	})
	// The container does not restart for 10 s, so its restart did not make room.
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
	a.remove(t, "crash.yaml")
	a.nothingLeft(t, n)
}
