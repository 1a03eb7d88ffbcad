//go:build e2e

package e2e

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/test/wasmtest"
)

// labelled waits until a pod runs and has this value of the label "from", and
// returns the pod.
func (a *agent) labelled(t *testing.T, name, from string) v1.Pod {
	t.Helper()
	return a.pod(t, name, func(p *v1.Pod) error {
		if p.Labels["from"] != from || !ready(*p) {
			return fmt.Errorf("labels %v, %s", p.Labels, p.Status.Phase)
		}
		return nil
	})
}

func TestAMergePolicyChangesTheWinnerBeforeItIsJudged(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	f := startFleet(t)
	f.serves(imagePod("web", webOne, "from: fleet"), imagePod("db", webOne, "from: elsewhere"))
	a := newAgent(t, n, "patched")
	a.withPolicies(t)
	a.withFleet(t, f, "")
	// The first candidate is from the source that agent.toml names first.
	a.put(t, a.Path("policies"), "patcher", "merge",
		wasmtest.Patching(0, `[{"op":"replace","path":"/metadata/labels/from","value":"merged"}]`), "mutable_paths = [\"/metadata/labels\"]\n")
	a.start(t)
	a.inForce(t, "patcher")
	a.running(t, "web", "db")
	a.manifest(t, "web.yaml", imagePod("web", webOne, "from: static"))
	a.showsConflict(t, "web-patched: fleet Lost static Runs")
	first := a.labelled(t, "web", "merged")
	a.says(t, "get conflicts", "web-patched", "policy", "patcher changed /metadata/labels/from")

	// The pod stays the same after a restart, and when the conflict has ended.
	a.kill()
	a.start(t)
	if again := a.labelled(t, "web", "merged"); container(again) != container(first) || again.UID != first.UID {
		t.Errorf("after a restart it is container %s, before %s", container(again), container(first))
	}
	f.serves(imagePod("db", webOne, "from: elsewhere"))
	a.showsConflict(t, "")
	if again := a.labelled(t, "web", "merged"); container(again) != container(first) {
		t.Errorf("without the conflict it is container %s, before %s", container(again), container(first))
	}
	a.stop(t)
}
