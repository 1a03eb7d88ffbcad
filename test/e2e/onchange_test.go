//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
)

// crowd is how many pods run when a policy arrives that denies them all, and crowdGoes how many
// of them it may evict.
const (
	crowd     = 30
	crowdGoes = 3
)

// evictedOf returns which pods run and which were evicted. Any other state is an error.
func (a *agent) evictedOf(ctx context.Context) (run, evicted []string, err error) {
	all, err := a.pods(ctx)
	for name, p := range all {
		switch {
		case p.Status.Phase == v1.PodRunning && p.DeletionTimestamp == nil:
			run = append(run, name)
		case p.Status.Phase == v1.PodFailed && (p.Status.Reason == "PolicyEvicted" || p.Status.Reason == "ImageNotAllowed"):
			evicted = append(evicted, name)
		default:
			err = fmt.Errorf("%s: phase %s, reason %s", name, p.Status.Phase, p.Status.Reason)
		}
	}
	return run, evicted, err
}

// evicts waits until n pods were evicted and all others run.
func (a *agent) evicts(t *testing.T, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d pods evicted", n), func(ctx context.Context) error {
		run, evicted, err := a.evictedOf(ctx)
		if err == nil && (len(run) != crowd-n || len(evicted) != n) {
			err = fmt.Errorf("%d run, %d evicted", len(run), len(evicted))
		}
		return err
	})
}

func TestAPolicyThatDeniesEverythingEndsATenthOfWhatRuns(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	binary, err := crashingBinary()
	if err != nil {
		t.Fatal(err)
	}
	a := &crashing{agent: newAgent(t, n, "crowd"), node: n}
	a.Program, a.file = binary, a.Path("crash")
	a.Env = append(a.Env, "WARDLET_CRASH_FILE="+a.file)
	a.withPolicies(t)
	config := a.read(t, filepath.Base(a.ConfigFile()))
	a.write(t, a.ConfigFile(), config+"exempt = [\"default/p00\", \"default/p01\"]\n")
	a.policy(t, "allowed-images", allow(webOne))
	a.start(t)
	var manifests, names []string
	for i := range crowd {
		names = append(names, fmt.Sprintf("p%02d", i))
		manifests = append(manifests, imagePod(names[i], webOne, ""))
	}
	a.manifest(t, "crowd.yaml", strings.Join(manifests, "---\n"))
	a.running(t, names...)

	module, err := os.ReadFile(filepath.Join(builtPolicies, "allowed-images.wasm"))
	if err != nil {
		t.Fatalf(`%v; "make plugins" builds it`, err)
	}
	// The third eviction is on the disk when the agent is killed, and its pod still runs.
	a.module(t, "deny-all", module, "on_change = \"evict\"\n"+allow("registry.example/none"))
	a.evicts(t, 2)
	const stored = "eviction stored"
	a.armed(t, stored)
	a.dies(t, stored)
	a.start(t)
	a.evicts(t, crowdGoes)
	const waits = `"wardlet policy confirm deny-all"`
	a.says(t, "get policies", "3 of 30 pods evicted, 25 wait for "+waits, "would not admit 27 of the 27 running pods")
	p := a.pod(t, "p20", violating("3 of 30 pods were evicted, this one waits for "+waits))
	a.pod(t, "p00", violating("the pod is exempt and runs on"))
	a.says(t, "explain pod "+p.Namespace+"/"+p.Name, "REVIEW: deny", "this one waits for "+waits)
	a.says(t, "get events", "p20", waits)
	for range 6 {
		time.Sleep(5 * time.Second)
		run, evicted, err := a.evictedOf(t.Context())
		if err != nil || len(run) != crowd-crowdGoes || len(evicted) != crowdGoes {
			t.Fatalf("%d run, %v were evicted: %v", len(run), evicted, err)
		}
	}

	a.says(t, "policy confirm deny-all", "deny-all is confirmed, 3 of 30 pods evicted, 25 wait")
	a.evicts(t, crowdGoes+2)
	a.says(t, "policy replay", " decisions made again: ", " the same\n")
	if err := os.Remove(a.Path("policies", "deny-all.toml")); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		a.pod(t, name, func(p *v1.Pod) error {
			if api.Condition(&p.Status, api.ConditionPolicyViolation) != nil || p.Status.Phase != v1.PodRunning {
				return fmt.Errorf("phase %s, conditions %+v", p.Status.Phase, p.Status.Conditions)
			}
			return nil
		})
	}
}

// violating checks that a pod runs with the condition that policy would not admit it, and
// with these words in the condition's message.
func violating(words ...string) func(*v1.Pod) error {
	return func(p *v1.Pod) error {
		c := api.Condition(&p.Status, api.ConditionPolicyViolation)
		if c == nil || p.Status.Phase != v1.PodRunning {
			return fmt.Errorf("phase %s, conditions %+v", p.Status.Phase, p.Status.Conditions)
		}
		return contains(c.Message, words...)
	}
}
