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
	"syscall"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// reloadPoints are the steps of a reload at which the agent is killed, in their
// order. After a kill at one of the first keptPoint steps, the next start uses the old set.
var reloadPoints = []string{
	"set read", "set verified", "set compiled", "set tested", "set content written", "set content kept", "set kept", "set in force",
}

const keptPoint = 6

// startPoints are the steps between a verdict and a running pod. From the
// storedPoint on the verdict is final, whatever the policies decide later.
var startPoints = []string{
	"record due", "record written", "verdict given", "verdict stored", "change handed on", "sandbox due", "sandbox made", "container started",
}

const storedPoint = 3

// crashing is an agent that kills itself at the armed point. It has a running pod and three
// policies, one of which changes pods.
type crashing struct {
	*agent
	node   node
	file   string
	steady string // the container of the steady pod
}

func newCrashing(t *testing.T, name string) *crashing {
	t.Helper()
	n := startNode(t)
	a := &crashing{agent: newAgent(t, n, name), node: n}
	binary, err := crashingBinary()
	if err != nil {
		t.Fatal(err)
	}
	a.Program, a.file = binary, a.Path("crash")
	a.Env = append(a.Env, "WARDLET_CRASH_FILE="+a.file)
	a.withPolicies(t)
	a.module(t, "other", wasmtest.Answering(0, "Said", "always the same"), "")
	a.module(t, "labels", labelling("one"), changing)
	a.answers(t, 0)
	a.start(t)
	a.manifest(t, "steady.yaml", imagePod("steady", webOne, "app: web"))
	a.steady = container(a.running(t, "steady")["steady"])
	return a
}

// answers installs the policy "changing", which allows with the answer 0 and denies with 1. Each
// number makes another module, and only the last rename completes the new set.
// It returns the digest of the module.
func (a *crashing) answers(t *testing.T, answer int32, number ...int) string {
	t.Helper()
	module := wasmtest.Answering(answer, "Said", fmt.Sprint("set ", number))
	a.module(t, "changing", module, "")
	return fmt.Sprintf("%x", sha256.Sum256(module))
}

// decides waits until the module of that digest is in force.
func (a *crashing) decides(t *testing.T, digest string) {
	t.Helper()
	a.set(t, "with module "+digest, func(s *api.PolicySet) bool {
		return slices.ContainsFunc(s.Policies, func(p api.PolicyState) bool { return p.SHA256 == digest })
	})
}

// armed makes the agent kill itself when it reaches the point.
func (a *crashing) armed(t *testing.T, point string) {
	t.Helper()
	a.write(t, a.file, point)
}

// dies waits until the agent has killed itself.
func (a *crashing) dies(t *testing.T, point string) {
	t.Helper()
	select {
	case <-a.Process.Ended():
		err := a.Process.Failure()
		a.Process = nil
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

// set waits until the operator's policy set is as wanted, and returns it.
func (a *agent) set(t *testing.T, what string, wanted func(*api.PolicySet) bool) api.PolicySet {
	t.Helper()
	var set api.PolicySet
	eventually(t, "a set "+what, func(ctx context.Context) error {
		var sets []api.PolicySet
		if err := a.API.Get(ctx, "/v1/policies", &sets); err != nil {
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

// untouched checks that the steady pod still has its container.
func (a *crashing) untouched(t *testing.T, when string) {
	t.Helper()
	if now := container(a.running(t, "steady")["steady"]); now != a.steady {
		t.Errorf("%s: the container of the pod that ran was %s and is %s", when, a.steady, now)
	}
}

func TestKilledAtAnyStepOfAReloadTheNextStartHasTheOldSetOrTheNewOneWhole(t *testing.T) {
	t.Parallel()
	a := newCrashing(t, "reloading")
	good := func(s *api.PolicySet) bool { return s.Refused == "" }
	old := a.set(t, "in force", good)
	for i, point := range reloadPoints {
		a.armed(t, point)
		a.answers(t, 0, i+1)
		a.dies(t, point)
		// The directory is now invalid: the next start uses the set that was kept.
		a.place(t, "broken.toml", []byte("nothing"))
		a.start(t)
		kept := a.set(t, "in force without its directory", func(s *api.PolicySet) bool { return s.Refused != "" })
		a.untouched(t, point)
		if err := os.Remove(a.Path("policies", "broken.toml")); err != nil {
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
		if kept.Digest != want || len(kept.Policies) != 3 {
			t.Errorf("killed at %q: the next start has the set %+v; the old one is %s, the new one %s", point, kept, old.Digest, now.Digest)
		}
		contents, err := os.ReadDir(a.Path("state", "policies", "operator"))
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
	t.Parallel()
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
		a.manifest(t, name+".yaml", imagePod(name, webOne, "app: web"))
		a.dies(t, point)
		become(1) // no new pod may run any more
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
