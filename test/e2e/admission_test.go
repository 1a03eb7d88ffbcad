//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/test/wasmtest"
)

// The agent of this test compiles the plugin itself, which takes long with the race detector.
func TestPolicyDecidesAndAChangeOfItTakesEffectWithoutARestart(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "judged")
	a.cold = true
	a.withPolicies(t)
	a.policy(t, "allowed-images", allow(webOne))
	a.start(t)
	a.manifest(t, "good.yaml", imagePod("good", webOne, ""))
	a.manifest(t, "evil.yaml", imagePod("evil", webTwo, ""))
	before := container(a.running(t, "good")["good"])
	a.pod(t, "evil", denied("ImageNotAllowed", `policy "allowed-images"`, webTwo))
	a.says(t, "get pods", "evil-judged", "ImageNotAllowed", `policy "allowed-images"`)
	a.says(t, "get decisions", "evil-judged", "deny", "allowed-images", "good-judged", "allow")
	a.says(t, "get policies", "allowed-images", "enforce", "generation 1")
	if sandboxes, err := n.marked(t.Context(), a.name); err != nil || sandboxes != 2 {
		t.Errorf("%d sandboxes and containers, %v; want those of the admitted pod alone", sandboxes, err)
	}

	a.policy(t, "allowed-images", allow(webOne, webTwo))
	a.running(t, "evil")
	a.says(t, "get policies", "generation 2")
	a.policy(t, "allowed-images", allow(webTwo))
	a.says(t, "get policies", "generation 3")
	if after := container(a.running(t, "good")["good"]); after != before {
		t.Errorf("a pod that ran was restarted: %s, then %s", before, after)
	}
	a.remove(t, "good.yaml", "evil.yaml")
	a.nothingLeft(t, n)
}

func TestADeniedReplacementLeavesThePodThatRunsAlone(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "keeper")
	a.withPolicies(t)
	a.policy(t, "allowed-images", allow(webOne))
	a.start(t)
	a.manifest(t, "web.yaml", imagePod("web", webOne, ""))
	before := container(a.running(t, "web")["web"])
	a.manifest(t, "web.yaml", imagePod("web", webTwo, ""))
	waits := conditioned("wardlet.dev/UpdateAdmitted", v1.PodRunning, "ImageNotAllowed", `policy "allowed-images"`, webTwo)
	same := func(when string) {
		t.Helper()
		if after := container(a.pod(t, "web", waits)); after != before {
			t.Errorf("%s: container %s, then %s", when, before, after)
		}
		a.says(t, "get pods", "Running", "web.yaml", "the old one runs on", `policy "allowed-images"`)
	}
	same("denied")
	a.kill()
	a.start(t)
	same("after a restart of the agent")

	a.policy(t, "allowed-images", allow(webTwo))
	a.pod(t, "web", func(p *v1.Pod) error {
		if !ready(*p) || container(*p) == before {
			return fmt.Errorf("%s: %+v", p.Status.Phase, p.Status.ContainerStatuses)
		}
		return unconditioned("wardlet.dev/UpdateAdmitted")(p)
	})
	a.remove(t, "web.yaml")
	a.nothingLeft(t, n)
}

func TestAHeldPodStartsByItselfWhenThePolicyLetsIt(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "patient")
	a.withPolicies(t)
	a.policy(t, "required-labels", "[settings]\nrequired = [\"team\"]\neffect = \"hold\"\n")
	a.start(t)
	a.manifest(t, "web.yaml", imagePod("web", webOne, ""))
	held := a.pod(t, "web", conditioned("wardlet.dev/Admitted", v1.PodPending, "RequiredLabels", `policy "required-labels"`, "team"))
	if held.Status.StartTime != nil {
		t.Errorf("a held pod has the start time %s", held.Status.StartTime)
	}
	a.says(t, "get pods", "web-patient", "Held", "team")
	a.policy(t, "required-labels", "[settings]\nrequired = [\"app\"]\neffect = \"hold\"\n")
	a.manifest(t, "labelled.yaml", imagePod("labelled", webOne, "app: x"))
	a.running(t, "labelled")
	a.policy(t, "required-labels", "mode = \"off\"\n[settings]\nrequired = [\"app\"]\n")
	p := a.running(t, "web")["web"]
	if err := unconditioned("wardlet.dev/Admitted")(&p); err != nil || p.Status.Reason != "" {
		t.Errorf("what held it still shows: %v, reason %q", err, p.Status.Reason)
	}
	a.remove(t, "web.yaml", "labelled.yaml")
	a.nothingLeft(t, n)
}

func TestASetThatIsBadIsRefusedAndChangesNothing(t *testing.T) { //nolint:tparallel // one agent has one set after the other
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "strict")
	a.withPolicies(t)
	a.place(t, "allowed-images.toml", []byte("nonsense = true\n"))
	a.start(t)
	a.manifest(t, "web.yaml", imagePod("web", webOne, ""))
	a.pod(t, "web", conditioned("wardlet.dev/Admitted", v1.PodPending, "PoliciesNotReady"))
	a.says(t, "get pods", "Held")
	// The plugin in C: `check` keeps no compiled code, and runs once for every fault.
	a.module(t, "allowed-images", example(t, "allowed-images-c"), allow(webOne))
	before := container(a.running(t, "web")["web"])

	restored := func() {
		t.Helper()
		for _, name := range []string{"bad.toml", "bad.wasm"} {
			if err := os.RemoveAll(a.Path("policies", name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, tc := range map[string]struct {
		place func()
		words []string
	}{
		"an unknown key": {
			func() { a.module(t, "bad", wasmtest.Answering(0, "", ""), "prority = 5\n") },
			[]string{"bad.toml:6", "prority", `"priority"`},
		},
		"no wasm": {
			func() { a.module(t, "bad", []byte("hello"), "") },
			[]string{"bad.toml", "bad.wasm", "wasm"},
		},
		"another digest": {
			func() {
				a.module(t, "bad", wasmtest.Answering(0, "", ""), "")
				a.place(t, "bad.wasm", wasmtest.Answering(1, "", ""))
			},
			[]string{"bad.toml:4", "sha256"},
		},
		"a hook that is not there": {
			func() { a.module(t, "bad", wasmtest.NoHooks(), "") },
			[]string{"bad.toml", "wardlet_admit"},
		},
		"a trap at the start": {
			func() { a.module(t, "bad", wasmtest.TrapAtInit(), "") },
			[]string{"bad.toml", "unreachable"},
		},
		"a loop at the start": {
			func() { a.module(t, "bad", wasmtest.LoopingAtInit(), "") },
			[]string{"bad.toml", "FuelExhausted", "wardlet_init"},
		},
		"unknown imports": {
			func() { a.module(t, "bad", wasmtest.UnknownImport(), "") },
			[]string{"bad.toml", "open_socket", "not offered"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.place()
			a.says(t, "get policies", append(tc.words, "refused", "allowed-images")...)
			if out, err := a.wardlet("check"); err == nil {
				t.Errorf("check is content:\n%s", out)
			} else if err := contains(out, append(tc.words, "fail")...); err != nil {
				t.Errorf("check: %v", err)
			}
			a.manifest(t, "evil.yaml", imagePod("evil", webTwo, ""))
			a.pod(t, "evil", denied("ImageNotAllowed", "allowed-images"))
			a.remove(t, "evil.yaml")
			restored()
		})
	}
	if after := container(a.running(t, "web")["web"]); after != before {
		t.Errorf("a pod that ran was restarted: %s, then %s", before, after)
	}
}

func TestAPodThatRunsStaysAdmitted(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "faithful")
	a.withPolicies(t)
	a.policy(t, "allowed-images", allow(webOne))
	a.start(t)
	a.manifest(t, "web.yaml", imagePod("web", webOne, ""))
	before := container(a.running(t, "web")["web"])
	same := func(when string) {
		t.Helper()
		a.settled(t)
		p := a.running(t, "web")["web"]
		if after := container(p); after != before || p.Status.ContainerStatuses[0].RestartCount != 0 {
			t.Errorf("%s: container %s, then %s", when, before, after)
		}
	}

	a.stop(t)
	a.policy(t, "allowed-images", allow(webTwo))
	a.start(t)
	same("after a restart under a policy that denies it")

	a.stop(t)
	if err := os.RemoveAll(a.Path("state", "documents")); err != nil {
		t.Fatal(err)
	}
	a.start(t)
	same("after the agent lost what it remembered")

	a.stop(t)
	a.place(t, "allowed-images.toml", []byte("nonsense = true\n"))
	a.start(t)
	same("while the last good policies are in force")

	a.stop(t)
	if err := os.RemoveAll(a.Path("state", "policies")); err != nil {
		t.Fatal(err)
	}
	a.start(t)
	same("while the policies cannot be loaded, and none are kept")
	a.manifest(t, "new.yaml", imagePod("new", webOne, ""))
	a.pod(t, "new", conditioned("wardlet.dev/Admitted", v1.PodPending, "PoliciesNotReady"))
	a.remove(t, "web.yaml", "new.yaml")
	a.nothingLeft(t, n)
}

func TestManyPodsAreJudgedAtOnce(t *testing.T) {
	t.Parallel()
	const count = 20
	n := startNode(t)
	a := newAgent(t, n, "busy")
	a.withPolicies(t)
	a.policy(t, "allowed-images", allow(webOne))
	a.start(t)
	var names, files []string
	for i := range count {
		name, image := fmt.Sprintf("pod-%02d", i), webOne
		if i%2 == 1 {
			image = webTwo
		} else {
			names = append(names, name)
		}
		files = append(files, name+".yaml")
		a.manifest(t, name+".yaml", imagePod(name, image, ""))
	}
	a.running(t, names...)
	eventually(t, "the others are denied", func(ctx context.Context) error {
		all, err := a.pods(ctx)
		if err != nil {
			return err
		}
		failed := 0
		for _, p := range all {
			if p.Status.Phase == v1.PodFailed && p.Status.Reason == "ImageNotAllowed" {
				failed++
			}
		}
		if failed != count/2 || len(all) != count {
			return fmt.Errorf("%d denied of %d", failed, len(all))
		}
		return nil
	})
	steadily(t, 3*time.Second, "only admitted pods have sandboxes", func(ctx context.Context) error { // housekeeping runs every 2 s
		sandboxes, err := n.marked(ctx, a.name)
		if err == nil && sandboxes != count {
			err = fmt.Errorf("%d sandboxes and containers; want two for each of %d admitted pods", sandboxes, count/2)
		}
		return err
	})
	a.remove(t, files...)
	a.nothingLeft(t, n)
}
