//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// changing is a policy whose plugin adds a label.
const changing = `mutable_paths = ["/metadata/labels"]
`

func labelling(value string) []byte {
	return wasmtest.Patching(0, fmt.Sprintf(`[{"op":"add","path":"/metadata/labels/added","value":%q}]`, value))
}

// forget removes the whole state directory.
func (a *agent) forget(t *testing.T) {
	t.Helper()
	if err := os.RemoveAll(a.Path("state")); err != nil {
		t.Fatal(err)
	}
}

// onlyContainer checks for a while that a pod has this container and no other.
func (a *agent) onlyContainer(t *testing.T, n node, name, id, when string) {
	t.Helper()
	steadily(t, 3*time.Second, when, func(ctx context.Context) error {
		containers, err := n.containersOf(ctx, name+"-"+a.name)
		if err == nil && (len(containers) != 1 || "containerd://"+containers[0] != id) {
			err = fmt.Errorf("containers %v, it was %s", containers, id)
		}
		return err
	})
}

// containersOf returns the IDs of all containers of a pod, also of those that have exited.
func (n node) containersOf(ctx context.Context, name string) ([]string, error) {
	list, err := n.CRI.ListContainers(ctx, &criapi.ListContainersRequest{
		Filter: &criapi.ContainerFilter{LabelSelector: map[string]string{"io.kubernetes.pod.name": name}},
	})
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, c := range list.GetContainers() {
		ids = append(ids, c.GetId())
	}
	return ids, nil
}

// labelled checks that a pod runs, is ready, and has the label that a policy adds.
func labelled(value string) func(*v1.Pod) error {
	return func(p *v1.Pod) error {
		if p.Labels["added"] != value || !ready(*p) {
			return fmt.Errorf("phase %s, labels %v, conditions %+v", p.Status.Phase, p.Labels, p.Status.Conditions)
		}
		return nil
	}
}

// unknown returns an error unless the pod is adopted: it runs, but its state is lost.
func unknown(p *v1.Pod) error {
	if !slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool { return c.Reason == api.ReasonAdopted }) {
		return fmt.Errorf("phase %s, conditions %+v", p.Status.Phase, p.Status.Conditions)
	}
	return nil
}

func TestPodsThatPoliciesHaveChangedRunOnWhenTheStateIsRemoved(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "forgetful")
	a.withPolicies(t)
	a.module(t, "labels", labelling("one"), changing)
	a.start(t)
	a.manifest(t, "web.yaml", imagePod("web", webOne, "app: web"))
	web := container(a.pod(t, "web", labelled("one")))
	good := func(s *api.PolicySet) bool { return s.Refused == "" }
	first := a.set(t, "in force", good)
	whole := func(when string, policies int) {
		t.Helper()
		now := a.set(t, "in force", good)
		if len(now.Policies) != policies || (now.Digest == first.Digest) != (policies == len(first.Policies)) {
			t.Errorf("%s: the set is %+v, it was %+v", when, now, first)
		}
	}

	when := "the policies do the same again"
	a.kill()
	a.forget(t)
	a.start(t)
	a.onlyContainer(t, n, "web", web, when)
	a.pod(t, "web", labelled("one"))
	whole(when, 1)

	when = "the state is removed while the agent runs and policies change"
	a.forget(t)
	a.module(t, "other", wasmtest.Answering(0, "Said", "always the same"), "")
	a.set(t, "with another policy", func(s *api.PolicySet) bool { return len(s.Policies) == 2 })
	a.kill()
	a.start(t)
	a.onlyContainer(t, n, "web", web, when)
	a.pod(t, "web", labelled("one"))
	whole(when, 2)

	when = "the policies cannot be read either"
	a.kill()
	a.forget(t)
	a.place(t, "broken.toml", []byte("nothing"))
	a.start(t)
	a.onlyContainer(t, n, "web", web, when)
	a.pod(t, "web", unknown)
	if err := os.Remove(a.Path("policies", "broken.toml")); err != nil {
		t.Fatal(err)
	}
	whole(when, 2)
	a.pod(t, "web", labelled("one"))
	a.onlyContainer(t, n, "web", web, "they can be read again")

	when = "the policies do otherwise"
	a.kill()
	a.forget(t)
	a.module(t, "labels", labelling("two"), changing)
	a.start(t)
	a.onlyContainer(t, n, "web", web, when)
	a.pod(t, "web", unknown)
	whole(when, 2)
	a.remove(t, "web.yaml")
	a.nothingLeft(t, n)
}

func TestKilledAtAnyStepOfAReloadAndWithoutItsStateTheNextStartHasTheNewSetWhole(t *testing.T) {
	t.Parallel()
	a := newCrashing(t, "forgetting")
	for i, point := range reloadPoints {
		a.armed(t, point)
		digest := a.answers(t, 0, i+1)
		a.dies(t, point)
		a.forget(t)
		a.start(t)
		a.decides(t, digest)
		if now := a.set(t, "in force", func(s *api.PolicySet) bool { return s.Refused == "" }); len(now.Policies) != 3 {
			t.Errorf("killed at %q: the next start has the set %+v", point, now)
		}
		a.onlyContainer(t, a.node, "steady", a.steady, point)
		a.pod(t, "steady", labelled("one"))
	}
	a.remove(t, "steady.yaml")
	a.nothingLeft(t, a.node)
}

func TestKilledBetweenAVerdictAndTheStartOfItsPodAndWithoutItsStateThePodRunsOnce(t *testing.T) {
	t.Parallel()
	a := newCrashing(t, "restarting")
	files := []string{"steady.yaml"}
	for i, point := range startPoints {
		name := fmt.Sprintf("pod-%d", i)
		files = append(files, name+".yaml")
		a.armed(t, point)
		a.manifest(t, name+".yaml", imagePod(name, webOne, "app: web"))
		a.dies(t, point)
		a.forget(t)
		a.start(t)
		a.pod(t, name, labelled("one"))
		a.onlyContainer(t, a.node, "steady", a.steady, point)
		a.pod(t, "steady", labelled("one"))
		if marked, err := a.node.marked(t.Context(), a.name); err != nil || marked != 2*len(files) {
			t.Errorf("killed at %q: %d sandboxes and containers of %d pods, %v", point, marked, len(files), err)
		}
	}
	a.remove(t, files...)
	a.nothingLeft(t, a.node)
}
