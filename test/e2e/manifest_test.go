//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// webPod returns a manifest as `kubectl run web --image=… --dry-run=client -o yaml`
// writes it.
func webPod(name string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata:
  creationTimestamp: null
  labels:
    run: %[1]s
  name: %[1]s
spec:
  containers:
  - image: registry.example/web:1
    name: %[1]s
    resources: {}
  dnsPolicy: ClusterFirst
  restartPolicy: Always
status: {}
`, name)
}

// hostPod returns a pod in the node's network that starts and stops
// quickly.
func hostPod(name string, args ...string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata:
  name: %s
spec:
  hostNetwork: true
  terminationGracePeriodSeconds: 2
  containers:
  - name: main
    image: registry.example/web:1
    args: [%s]
`, name, strings.Join(args, ", "))
}

func TestAManifestBecomesARunningPodAndItsRemovalLeavesNothing(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "solo")
	a.start(t)
	a.manifest(t, "web.yaml", webPod("web"))
	p := a.running(t, "web")["web"]
	answers(t, "http://"+p.Status.PodIP+":8080/", "hello from web-solo\n")
	container := strings.TrimPrefix(p.Status.ContainerStatuses[0].ContainerID, "containerd://")
	logs := a.Path("log", "pods", "default_web-solo_"+string(p.UID), "web", "0.log")
	for _, path := range []string{
		logs,
		a.Path("log", "containers", "web-solo_default_web-"+container+".log"),
		a.Path("root", "pods", string(p.UID), "etc-hosts"),
	} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("not as a kubelet lays it out: %v", err)
		}
	}
	if p.Status.QOSClass != v1.PodQOSBestEffort {
		t.Errorf("QoS class is %s, want BestEffort", p.Status.QOSClass)
	}
	out, err := a.wardlet("get", "pods")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, "web-solo") || !strings.Contains(out, "Running") {
		t.Errorf("get pods shows:\n%s", out)
	}
	a.remove(t, "web.yaml")
	a.nothingLeft(t, n)
	a.stop(t)
	for _, path := range a.strays(t) {
		t.Errorf("left after the agent: %s", path)
	}
}

// strays returns the files in the agent's roots other than its state, its log and its
// identity.
func (a *agent) strays(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, root := range []string{"root", "log"} {
		err := filepath.WalkDir(a.Path(root), func(path string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && path != a.Path("root", "identity", "identity.json") {
				found = append(found, path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	return found
}

func TestManifestsDroppedAtOnceAllRunBesideAnotherAgentAndAForeignPod(t *testing.T) {
	t.Parallel()
	count := *many / 2
	n := startNode(t)
	foreign := n.run(t, podSpec{name: "foreign", hostNetwork: true, args: []string{"sleep"}})
	agents := []*agent{newAgent(t, n, "left"), newAgent(t, n, "right")}
	var names []string
	for i := range count {
		names = append(names, fmt.Sprintf("pod-%02d", i))
	}
	for _, a := range agents {
		a.start(t)
		for _, name := range names {
			a.manifest(t, name+".yaml", hostPod(name, "sleep"))
		}
	}
	for _, a := range agents {
		a.running(t, names...)
	}
	for _, a := range agents {
		for _, name := range names {
			a.remove(t, name+".yaml")
		}
	}
	for _, a := range agents {
		a.nothingLeft(t, n)
	}
	status, err := n.CRI.ContainerStatus(t.Context(), &criapi.ContainerStatusRequest{ContainerId: foreign.container})
	if err != nil || status.GetStatus().GetState() != criapi.ContainerState_CONTAINER_RUNNING {
		t.Errorf("the foreign pod did not survive: %v %v", status.GetStatus().GetState(), err)
	}
}

func TestAnAgentThatIsKilledAdoptsWhatRuns(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "adopt")
	a.start(t)
	a.manifest(t, "web.yaml", webPod("web"))
	a.manifest(t, "gone.yaml", hostPod("gone", "sleep"))
	before := a.running(t, "web", "gone")
	a.kill()
	a.remove(t, "gone.yaml")
	a.start(t)
	eventually(t, "the pod removed meanwhile is ended", func(ctx context.Context) error {
		pods, err := a.pods(ctx)
		if err != nil {
			return err
		}
		if _, ok := pods["gone-adopt"]; ok {
			return fmt.Errorf("gone is still known: %v", pods["gone-adopt"].Status.Phase)
		}
		if left, err := n.marked(ctx, a.name); err != nil || left > 2 {
			return fmt.Errorf("%d sandboxes and containers, want 2: %w", left, err)
		}
		return nil
	})
	after := a.running(t, "web")
	if diff := cmp.Diff(before["web"].Status.ContainerStatuses, after["web"].Status.ContainerStatuses); diff != "" {
		t.Errorf("container statuses changed over the restart (-before +after):\n%s", diff)
	}
}

func TestWhatChangesNothingRestartsNothing(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "calm")
	a.start(t)
	a.manifest(t, "a.yaml", hostPod("web", "sleep"))
	before := a.running(t, "web")["web"]
	tests := map[string]func(){
		"a renamed manifest": func() {
			if err := os.Rename(filepath.Join(a.Manifest(), "a.yaml"), filepath.Join(a.Manifest(), "b.yaml")); err != nil {
				t.Fatal(err)
			}
		},
		"an edited comment": func() {
			a.write(t, filepath.Join(a.Manifest(), "b.yaml"), "# nothing new\n"+hostPod("web", "sleep"))
		},
		"a manifest that became invalid":    func() { a.manifest(t, "b.yaml", "kind: [") },
		"a restart on the invalid manifest": func() { a.stop(t); a.start(t) },
	}
	for _, name := range []string{
		"a renamed manifest", "an edited comment", "a manifest that became invalid", "a restart on the invalid manifest",
	} {
		tests[name]()
		a.settled(t)
		after := a.running(t, "web")["web"]
		if diff := cmp.Diff(before.Status.ContainerStatuses, after.Status.ContainerStatuses); diff != "" {
			t.Errorf("%s (-before +after):\n%s", name, diff)
		}
	}
}

func TestAnEditedManifestReplacesThePod(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "edit")
	a.start(t)
	a.manifest(t, "web.yaml", hostPod("web", "sleep"))
	before := a.running(t, "web")["web"]
	a.manifest(t, "web.yaml", strings.Replace(hostPod("web", "sleep"), "web:1", "web:2", 1))
	eventually(t, "the new version runs alone", func(ctx context.Context) error {
		pods, err := a.pods(ctx)
		if err != nil {
			return err
		}
		p := pods["web-edit"]
		if len(pods) != 1 || p.UID == before.UID || !ready(p) || p.Spec.Containers[0].Image != "registry.example/web:2" {
			return fmt.Errorf("%d pods, web is %s %s", len(pods), p.UID, p.Status.Phase)
		}
		if left, err := n.marked(ctx, a.name); err != nil || left != 2 {
			return fmt.Errorf("%d sandboxes and containers, want 2: %w", left, err)
		}
		return nil
	})
}

func TestAContainerThatEndsIsStartedAgainWithBackOff(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "crash")
	a.start(t)
	a.manifest(t, "crash.yaml", hostPod("crash", "exit", "-code", `"3"`))
	eventually(t, "the pod is backing off", func(ctx context.Context) error {
		pods, err := a.pods(ctx)
		if err != nil {
			return err
		}
		statuses := pods["crash-crash"].Status.ContainerStatuses
		if len(statuses) != 1 {
			return fmt.Errorf("%d container statuses", len(statuses))
		}
		s := statuses[0]
		if s.RestartCount != 1 || s.State.Waiting == nil || s.State.Waiting.Reason != "CrashLoopBackOff" ||
			s.LastTerminationState.Terminated == nil || s.LastTerminationState.Terminated.ExitCode != 3 {
			return fmt.Errorf("status is %+v", s)
		}
		return nil
	})
	a.remove(t, "crash.yaml")
	a.nothingLeft(t, n)
}

func TestABadManifestTakesNothingElseWithIt(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "bad")
	a.manifest(t, "broken.yaml", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containerz: []\n")
	a.manifest(t, "service.yaml", "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n")
	a.manifest(t, "web.yaml", hostPod("web", "sleep"))
	a.start(t)
	a.running(t, "web")
	out, err := a.wardlet("get", "sources")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"broken.yaml:6: ", "containerz", "containers", "service.yaml:2: "} {
		if !strings.Contains(out, want) {
			t.Errorf("get sources does not say %q:\n%s", want, out)
		}
	}
}
