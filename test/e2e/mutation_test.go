//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/test/wasmtest"
)

// replacing installs a policy that replaces the image of every pod; rest is the
// rest of its document.
func (a *agent) replacing(t *testing.T, image, rest string) {
	t.Helper()
	patch := fmt.Sprintf(`[{"op":"replace","path":"/spec/containers/0/image","value":%q}]`, image)
	a.module(t, "mirror", wasmtest.Patching(0, patch), "mutable_paths = [\"/spec/containers/*/image\"]\n"+rest)
}

// changedTo checks that a pod runs an image that a policy has set.
func changedTo(image string) func(*v1.Pod) error {
	return func(p *v1.Pod) error {
		if !ready(*p) || p.Spec.Containers[0].Image != image {
			return fmt.Errorf("%s with the image %s, containers %+v", p.Status.Phase, p.Spec.Containers[0].Image, p.Status.ContainerStatuses)
		}
		for _, c := range p.Status.Conditions {
			if c.Type == "wardlet.dev/Mutated" && c.Status == v1.ConditionTrue {
				return contains(c.Message, "mirror changed /spec/containers/0/image")
			}
		}
		return fmt.Errorf("nothing says who changed it: %+v", p.Status.Conditions)
	}
}

func TestWhatAPolicyMadeOfAPodRunsOnWhateverBecomesOfThePolicy(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "changing")
	a.withPolicies(t)
	a.policy(t, "allowed-images", allow(webTwo))
	a.replacing(t, webTwo, "")
	a.start(t)
	a.manifest(t, "web.yaml", imagePod("web", webOne, ""))
	before := container(a.pod(t, "web", changedTo(webTwo)))
	same := func(when string) {
		t.Helper()
		if after := container(a.pod(t, "web", changedTo(webTwo))); after != before {
			t.Errorf("%s: container %s, then %s", when, before, after)
		}
	}
	a.kill()
	a.start(t)
	same("after a restart of the agent")

	a.replacing(t, webTwo, "mode = \"off\"\n")
	a.says(t, "get policies", "generation")
	a.kill()
	a.start(t)
	same("after a restart with policies that change nothing, and would deny it")

	// The agent loses its state. With the same policies the pod stays the same.
	a.replacing(t, webTwo, "")
	a.stop(t)
	if err := os.RemoveAll(a.Path("state", "documents")); err != nil {
		t.Fatal(err)
	}
	a.start(t)
	same("after its memory was lost")

	// Without the policies the agent cannot identify the running pod, and leaves it unchanged.
	a.policy(t, "allowed-images", allow(webOne, webTwo))
	a.replacing(t, webTwo, "mode = \"off\"\n")
	a.stop(t)
	if err := os.RemoveAll(a.Path("state", "documents")); err != nil {
		t.Fatal(err)
	}
	a.start(t)
	a.pod(t, "web", conditioned("wardlet.dev/Admitted", v1.PodRunning, "Adopted", "runs on untouched"))
	if sandboxes, err := n.marked(t.Context(), a.name); err != nil || sandboxes != 2 {
		t.Errorf("%d sandboxes and containers, %v; want those of the pod that runs on", sandboxes, err)
	}
	a.remove(t, "web.yaml")
	a.nothingLeft(t, n)
}
