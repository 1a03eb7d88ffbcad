//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/test/wasmtest"
)

// order returns settings of source-precedence.
func order(kinds ...string) string { return fmt.Sprintf("[settings]\norder = [%s]\n", quoted(kinds)) }

// only waits until the node has exactly one pod, which runs and has this value of the
// label "from", and returns it.
func (a *agent) only(t *testing.T, from string) v1.Pod {
	t.Helper()
	var found v1.Pod
	eventually(t, "only the pod of "+from+" runs", func(ctx context.Context) error {
		var list v1.PodList
		if err := a.API.Get(ctx, "/v1/pods", &list); err != nil {
			return err
		}
		if len(list.Items) != 1 || list.Items[0].Labels["from"] != from || !ready(list.Items[0]) {
			return fmt.Errorf("%d pods: %+v", len(list.Items), list.Items)
		}
		found = list.Items[0]
		return nil
	})
	return found
}

func TestAMergePolicyDecidesWhichSourceRuns(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	f := startFleet(t)
	f.serves(imagePod("web", webOne, "from: fleet"))
	a := newAgent(t, n, "merged")
	a.withPolicies(t)
	a.withFleet(t, f, "")
	decides := func(kinds ...string) {
		t.Helper()
		a.put(t, a.Path("policies"), "source-precedence", "merge", example(t, "source-precedence"), order(kinds...))
	}
	decides("file", "http")
	a.start(t)
	a.inForce(t, "source-precedence")
	fleets := a.only(t, "fleet")
	a.manifest(t, "web.yaml", imagePod("web", webOne, "from: static"))
	a.showsConflict(t, "web-merged: fleet Lost static Runs")
	first := a.only(t, "static")
	a.says(t, "get conflicts", "web-merged", "policy", "web.yaml of source static runs", "of source fleet does not run",
		"decided by source-precedence")

	// A restart does not decide the conflict again.
	a.kill()
	a.start(t)
	if again := a.only(t, "static"); container(again) != container(first) {
		t.Errorf("after a restart it is container %s, before %s", container(again), container(first))
	}

	// Other settings do, and the running pod is replaced.
	decides("http", "file")
	a.showsConflict(t, "web-merged: fleet Runs static Lost")
	if p := a.only(t, "fleet"); p.UID != fleets.UID || container(p) == container(fleets) {
		t.Errorf("%s runs in %s, want a new container of %s", p.UID, container(p), fleets.UID)
	}

	// The loser takes over when the winner's manifest is removed, but not while the winner's source
	// is unreachable.
	f.serves()
	a.manifest(t, "other.yaml", imagePod("other", webOne, ""))
	a.running(t, "other")
	a.remove(t, "other.yaml")
	a.only(t, "fleet")
	f.serves(imagePod("db", webOne, "from: elsewhere"))
	a.pod(t, "web", func(p *v1.Pod) error { // the winner's pod runs until its containers have ended
		if p.UID != first.UID || !ready(*p) {
			return fmt.Errorf("%s, %s, want %s to take over", p.UID, p.Status.Phase, first.UID)
		}
		return nil
	})
	a.running(t, "web", "db")
	a.showsConflict(t, "")
	a.stop(t)
}

func TestAMergePolicyThatRejectsAllStopsNothing(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	f := startFleet(t)
	f.serves(imagePod("web", webOne, "from: fleet"), imagePod("db", webOne, "from: elsewhere"))
	a := newAgent(t, n, "neither")
	a.withPolicies(t)
	a.withFleet(t, f, "")
	a.put(t, a.Path("policies"), "nobody", "merge", wasmtest.Merging(-2, "Neither", "say who it is"), "")
	a.start(t)
	before := container(a.running(t, "web", "db")["web"])
	a.manifest(t, "web.yaml", imagePod("web", webOne, "from: static"))
	a.showsConflict(t, "web-neither: fleet Runs static Waits")
	a.says(t, "get conflicts", "web-neither", "policy", "of source static waits", "say who it is")
	if after := container(a.running(t, "web")["web"]); after != before {
		t.Errorf("container %s, then %s", before, after)
	}
	f.serves(imagePod("db", webOne, "from: elsewhere"))
	a.showsConflict(t, "")
	a.pod(t, "web", func(p *v1.Pod) error {
		if p.Labels["from"] != "static" || !ready(*p) {
			return fmt.Errorf("labels %v, %s", p.Labels, p.Status.Phase)
		}
		return nil
	})
	a.stop(t)
}

func TestAMergePolicyThatRejectsAllEvictsWhatRunsWhereItSaysSo(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	f := startFleet(t)
	f.serves(imagePod("web", webOne, "from: fleet"), imagePod("db", webOne, "from: elsewhere"))
	a := newAgent(t, n, "rejected")
	a.withPolicies(t)
	a.withFleet(t, f, "")
	a.put(t, a.Path("policies"), "nobody", "merge", wasmtest.Merging(-2, "Neither", "say who it is"), "on_change = \"evict\"\n")
	// Twenty decisions prove that the set does not fail. These pods are all denied.
	a.put(t, a.Path("policies"), "elsewhere", "admit", wasmtest.Answering(1, "Elsewhere", "not here"), "[match]\nnamespaces = [\"other\"]\n")
	var others []string
	for i := range 20 {
		others = append(others, strings.Replace(imagePod(fmt.Sprintf("p%02d", i), webOne, ""), "metadata:", "metadata:\n  namespace: other", 1))
	}
	a.manifest(t, "others.yaml", strings.Join(others, "---\n"))
	a.start(t)
	db := container(a.running(t, "web", "db")["db"])
	a.manifest(t, "web.yaml", imagePod("web", webOne, "from: static"))
	gone := denied("ConflictRejected", `policy "nobody": ConflictRejected: say who it is`)
	a.pod(t, "web", gone)
	a.says(t, "get policies", "nobody: would not admit 0", "1 of 1 pods evicted")
	a.kill()
	a.start(t)
	a.pod(t, "web", gone)
	a.showsConflict(t, "web-rejected: fleet Waits static Waits")

	// When no other document claims its name, the pod runs again.
	a.remove(t, "web.yaml")
	a.showsConflict(t, "")
	again := a.running(t, "web", "db")
	if from := again["web"].Labels["from"]; from != "fleet" || container(again["db"]) != db {
		t.Errorf("web is from %s, db runs in %s, before in %s", from, container(again["db"]), db)
	}
	a.stop(t)
}
