//go:build e2e

package e2e

import (
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/test/wasmtest"
)

func TestAPluginThatLoopsCostsNobodyElseAnything(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "calm")
	a.withPolicies(t)
	a.policy(t, "allowed-images", allow(webOne))
	a.module(t, "looping", wasmtest.Looping(), "[match]\nlabel_selector = \"loop = on\"\n[limits]\nfuel = 100_000_000\n")
	a.module(t, "trapping", wasmtest.Trapping(), "[match]\nlabel_selector = \"trap = on\"\n")
	a.start(t)
	a.manifest(t, "web.yaml", imagePod("web", webOne, ""))
	before := container(a.running(t, "web")["web"])
	a.manifest(t, "loop.yaml", imagePod("loop", webOne, "loop: \"on\""))
	a.manifest(t, "trap.yaml", imagePod("trap", webOne, "trap: \"on\""))
	a.manifest(t, "second.yaml", imagePod("second", webOne, ""))
	a.running(t, "second")
	a.pod(t, "loop", conditioned("wardlet.dev/Admitted", v1.PodPending, "PolicyFailed", `policy "looping"`, "FuelExhausted", "raise fuel"))
	a.pod(t, "trap", conditioned("wardlet.dev/Admitted", v1.PodPending, "PolicyFailed", `policy "trapping"`, "Trap", "unreachable"))
	a.says(t, "get policies", "looping: failures: FuelExhausted", "trapping: failures: Trap")
	if after := container(a.running(t, "web")["web"]); after != before {
		t.Errorf("a pod that ran was restarted: %s, then %s", before, after)
	}
	a.remove(t, "web.yaml", "loop.yaml", "trap.yaml", "second.yaml")
	a.nothingLeft(t, n)
}
