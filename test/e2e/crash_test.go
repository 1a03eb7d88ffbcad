//go:build e2e

package e2e

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/wasm/wasmtest"
)

// reloadPoints are the steps of a reload at which the agent is killed, in their
// order. The first keptPoint of them leave the set before for the next start.
var reloadPoints = []string{
	"set read", "set verified", "set compiled", "set tested", "set content written", "set content kept", "set kept", "set in force",
}

const keptPoint = 6

// startPoints are the steps between a verdict and a pod that runs. From the
// storedPoint on the verdict counts, whatever the policies say later.
var startPoints = []string{
	"record due", "record written", "verdict given", "verdict stored", "change handed on", "sandbox due", "sandbox made", "container started",
}

const storedPoint = 3

// crashingBinary builds the agent once that can be told to kill itself.
var crashingBinary = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(buildDir, "wardlet-crashing")
	out, err := exec.Command("go", "build", "-tags", "crashpoints", "-o", binary, "github.com/wardlet/wardlet/cmd/agent").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the agent that crashes: %w\n%s", err, out)
	}
	return binary, nil
})

// crashing is an agent that kills itself where it is told, with two policies and
// a pod that runs.
type crashing struct {
	*agent
	node   node
	file   string
	steady string // the container of the pod that runs
}

func newCrashing(t *testing.T, name string) *crashing {
	t.Helper()
	n := startNode(t)
	a := &crashing{agent: newAgent(t, n, name), node: n}
	binary, err := crashingBinary()
	if err != nil {
		t.Fatal(err)
	}
	a.binary, a.file = binary, a.path("crash")
	t.Setenv("WARDLET_CRASH_FILE", a.file)
	a.withPolicies(t)
	a.module(t, "other", wasmtest.Answering(0, "Said", "always the same"), "")
	a.answers(t, 0)
	a.start(t)
	a.manifest(t, "steady.yaml", imagePod("steady", webOne, ""))
	a.steady = container(a.running(t, "steady")["steady"])
	return a
}

// answers puts the policy in place whose answer counts: 0 to allow, 1 to deny. Each
// number makes it another module, and only the last rename makes it another set.
// It gives the digest of the module.
func (a *crashing) answers(t *testing.T, answer int32, number ...int) string {
	t.Helper()
	module := wasmtest.Answering(answer, "Said", fmt.Sprint("set ", number))
	a.module(t, "changing", module, "")
	return fmt.Sprintf("%x", sha256.Sum256(module))
}

// decides waits until the module of that digest is in force.
func (a *crashing) decides(t *testing.T, digest string) {
	t.Helper()
	a.set(t, "with module "+digest, func(s *pod.PolicySet) bool {
		return slices.ContainsFunc(s.Policies, func(p pod.PolicyState) bool { return p.SHA256 == digest })
	})
}

// armed has the agent kill itself when it comes to the point.
func (a *crashing) armed(t *testing.T, point string) {
	t.Helper()
	a.write(t, a.file, point)
}

// dies waits until the agent has killed itself.
func (a *crashing) dies(t *testing.T, point string) {
	t.Helper()
	select {
	case err := <-a.ended:
		a.command = nil
		a.log.Close()
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("at %q it ended with %v", point, err)
		}
	case <-time.After(patience):
		t.Fatalf("it never came to %q", point)
	}
	if err := os.Remove(a.file); err != nil {
		t.Fatal(err)
	}
}

// set waits until the operator's set is as wanted, and gives it.
func (a *crashing) set(t *testing.T, what string, wanted func(*pod.PolicySet) bool) pod.PolicySet {
	t.Helper()
	var set pod.PolicySet
	eventually(t, "a set "+what, func(ctx context.Context) error {
		var sets []pod.PolicySet
		if err := a.client.Get(ctx, "/v1/policies", &sets); err != nil {
			return err
		}
		if len(sets) != 1 || !sets[0].Ready || !wanted(&sets[0]) {
			return fmt.Errorf("sets %+v", sets)
		}
		set = sets[0]
		return nil
	})
	return set
}

// untouched sees that the pod that ran all the time has its container still.
func (a *crashing) untouched(t *testing.T, when string) {
	t.Helper()
	if now := container(a.running(t, "steady")["steady"]); now != a.steady {
		t.Errorf("%s: the container of the pod that ran was %s and is %s", when, a.steady, now)
	}
}

func TestKilledAtAnyStepOfAReloadTheNextStartHasTheOldSetOrTheNewOneWhole(t *testing.T) {
	a := newCrashing(t, "reloading")
	good := func(s *pod.PolicySet) bool { return s.Refused == "" }
	old := a.set(t, "in force", good)
	for i, point := range reloadPoints {
		a.armed(t, point)
		a.answers(t, 0, i+1)
		a.dies(t, point)
		// What the directory holds is of no use now: the next start has what was kept.
		a.place(t, "broken.toml", []byte("nothing"))
		a.start(t)
		kept := a.set(t, "in force without its directory", func(s *pod.PolicySet) bool { return s.Refused != "" })
		a.untouched(t, point)
		if err := os.Remove(a.path("policies", "broken.toml")); err != nil {
			t.Fatal(err)
		}
		now := a.set(t, "in force again", good)
		if now.Digest == old.Digest {
			t.Fatalf("%s: the set did not change", point)
		}
		want := old.Digest
		if i >= keptPoint {
			want = now.Digest
		}
		if kept.Digest != want || len(kept.Policies) != 2 {
			t.Errorf("killed at %q: the next start has the set %+v; the old one is %s, the new one %s", point, kept, old.Digest, now.Digest)
		}
		contents, err := os.ReadDir(a.path("state", "policies", "operator"))
		if err != nil || len(contents) > 2 || slices.ContainsFunc(contents, func(e os.DirEntry) bool { return filepath.Ext(e.Name()) != "" }) {
			t.Errorf("killed at %q: kept are %v, %v", point, contents, err)
		}
		old = now
	}
	a.untouched(t, "at the end")
	a.remove(t, "steady.yaml")
	a.nothingLeft(t, a.node)
}

func TestKilledBetweenAVerdictAndTheStartOfItsPodTheVerdictIsMadeAgainOrStands(t *testing.T) {
	a := newCrashing(t, "starting")
	number := 0
	become := func(answer int32) string {
		number++
		return a.answers(t, answer, number)
	}
	files := []string{"steady.yaml"}
	for i, point := range startPoints {
		name := fmt.Sprintf("pod-%d", i)
		files = append(files, name+".yaml")
		a.armed(t, point)
		a.manifest(t, name+".yaml", imagePod(name, webOne, ""))
		a.dies(t, point)
		become(1) // nothing new may run any more
		a.start(t)
		if i < storedPoint {
			a.pod(t, name, denied("Said", `policy "changing"`))
			a.decides(t, become(0))
		}
		a.running(t, name)
		a.untouched(t, point)
		eventually(t, "one sandbox and one container of each pod", func(ctx context.Context) error {
			if marked, err := a.node.marked(ctx, a.name); err != nil || marked != 2*len(files) {
				return fmt.Errorf("killed at %q: %d sandboxes and containers of %d pods, %w", point, marked, len(files), err)
			}
			return nil
		})
		if i >= storedPoint {
			a.decides(t, become(0))
		}
	}
	a.remove(t, files...)
	a.nothingLeft(t, a.node)
}

// changing is a policy whose plugin adds a label.
const changing = `mutable_paths = ["/metadata/labels"]
`

func labelling(value string) []byte {
	return wasmtest.Patching(0, fmt.Sprintf(`[{"op":"add","path":"/metadata/labels/added","value":%q}]`, value))
}

func TestPodsThatPoliciesHaveChangedRunOnWhenTheStateIsLost(t *testing.T) {
	n := startNode(t)
	a := newAgent(t, n, "forgetful")
	a.withPolicies(t)
	a.module(t, "labels", labelling("one"), changing)
	a.start(t)
	a.manifest(t, "web.yaml", imagePod("web", webOne, "app: web"))
	web := a.running(t, "web")["web"]
	if web.Labels["added"] != "one" {
		t.Fatalf("labels %v", web.Labels)
	}
	// Only the mark stays: by it the agent knows what is its own.
	forget := func() {
		t.Helper()
		a.kill()
		entries, err := os.ReadDir(a.path("state"))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Name() == "installation.json" {
				continue
			}
			if err := os.RemoveAll(a.path("state", e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	same := func(when string, check func(*v1.Pod) error) {
		t.Helper()
		steadily(t, 3*time.Second, when, func(ctx context.Context) error {
			containers, err := n.containersOf(ctx, "web-"+a.name)
			if err == nil && (len(containers) != 1 || "containerd://"+containers[0] != container(web)) {
				err = fmt.Errorf("containers %v, it was %s", containers, container(web))
			}
			return err
		})
		a.pod(t, "web", check)
	}
	forget()
	a.start(t)
	same("policies change it as before", func(p *v1.Pod) error {
		if p.Labels["added"] != "one" || !ready(*p) {
			return fmt.Errorf("phase %s, labels %v", p.Status.Phase, p.Labels)
		}
		return nil
	})

	forget()
	a.module(t, "labels", labelling("two"), changing)
	a.start(t)
	same("policies change it otherwise", func(p *v1.Pod) error {
		if !slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool { return c.Reason == pod.ReasonAdopted }) {
			return fmt.Errorf("phase %s, conditions %+v", p.Status.Phase, p.Status.Conditions)
		}
		return nil
	})
	a.remove(t, "web.yaml")
	a.nothingLeft(t, n)
}

// containersOf are the IDs of all containers of a pod, also of those that ended.
func (n node) containersOf(ctx context.Context, name string) ([]string, error) {
	list, err := n.cri.ListContainers(ctx, &criapi.ListContainersRequest{
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
