//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
)

// decisions waits until there are decisions about n pods, and returns each pod's
// newest decision by the pod's name.
func (a *agent) decisions(t *testing.T, n int) map[string]api.Decision {
	t.Helper()
	var all map[string]api.Decision
	eventually(t, fmt.Sprintf("decisions about %d pods", n), func(ctx context.Context) error {
		var list []api.Decision
		if err := a.API.Get(ctx, "/v1/decisions", &list); err != nil {
			return err
		}
		all = map[string]api.Decision{}
		for _, d := range list {
			all[d.Name] = d
		}
		if len(all) != n {
			return fmt.Errorf("there are %d", len(all))
		}
		return nil
	})
	return all
}

func TestDecisionsAreOnRecordOverAKillAndAPodIsExplained(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "records")
	// With the race detector the interpreter exceeds the time limit for loading a module.
	binary, err := plainBinary()
	if err != nil {
		t.Fatal(err)
	}
	a.Program = binary
	a.withPolicies(t)
	a.policy(t, "allowed-images", allow(webOne))
	a.start(t)
	a.manifest(t, "good.yaml", imagePod("good", webOne, ""))
	a.manifest(t, "bad.yaml", imagePod("bad", webTwo, ""))
	failed := func(p *v1.Pod) error {
		if p.Status.Phase != v1.PodFailed {
			return fmt.Errorf("phase %s", p.Status.Phase)
		}
		return nil
	}
	a.pod(t, "bad", failed)
	a.running(t, "good")
	before := a.decisions(t, 2)
	for name, d := range before {
		if d.ID == "" || d.NotKept != "" || len(d.Verdict.Opinions) != 1 || len(d.Verdict.Opinions[0].Reads) == 0 || d.Verdict.Opinions[0].Fuel == 0 {
			t.Errorf("decision about %s: %+v", name, d)
		}
	}
	a.kill()
	a.start(t)
	for name, d := range a.decisions(t, 2) {
		was := before[name]
		if d.ID != was.ID || d.Verdict.Message != was.Verdict.Message || d.Count < was.Count || !d.First.Equal(was.First) {
			t.Errorf("after a kill the decision about %s is %+v, and was %+v", name, d, was)
		}
	}
	if err := filepath.WalkDir(a.Path("state", "decisions"), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	a.pod(t, "bad", failed)
	a.running(t, "good")
	for args, parts := range map[string][]string{
		"explain pod default/bad":                         {"bad.yaml of source", "ADD: deny", "policy allowed-images: deny", "object.spec.@containers[*].image", "; fuel ", "phase Failed"},
		"explain pod default/good":                        {"good.yaml of source", "ADD: allow", "container main started", "the agent started; what stands above is from before", "phase Running", "runs and is ready"},
		"get decisions default/bad --answer deny -o wide": {"allowed-images", "operator-"},
	} {
		out, err := a.wardlet(strings.Fields(args)...)
		for _, part := range parts {
			if err != nil || !strings.Contains(out, part) {
				t.Errorf("wardlet %s: %v, no %q in\n%s", args, err, part, out)
			}
		}
	}
	if out, err := a.wardlet("explain", "pod", "default/god"); err == nil || !strings.Contains(err.Error(), "did you mean default/good") {
		t.Errorf("error %v\n%s", err, out)
	}
	for _, on := range []string{"", " --interpreter"} {
		if out, err := a.wardlet(strings.Fields("policy replay" + on)...); err != nil || !strings.Contains(out, "2 decisions made again: 2 the same\n") {
			t.Errorf("policy replay%s beside the agent: %v\n%s", on, err, out)
		}
	}
	a.stop(t)

	// What was stored with a running pod is known even without its decision record.
	if err := os.RemoveAll(a.Path("state", "decisions")); err != nil {
		t.Fatal(err)
	}
	a.start(t)
	a.running(t, "good")
	out, err := a.wardlet("explain", "pod", "default/good")
	for _, part := range []string{"admit     allow", "policy allowed-images: allow", "as it is stored with the pod", "the agent started"} {
		if err != nil || !strings.Contains(out, part) {
			t.Errorf("explain without records: %v, no %q in\n%s", err, part, out)
		}
	}
	a.stop(t)
}
