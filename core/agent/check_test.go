package agent

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/server"
	"github.com/wardlet/wardlet/test/fakecri"
)

func TestACheckBesideAnAgentThatRunsLooksAtEverythingAndChangesNothing(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	sandbox(t, cri, "a", kubeletLabels("a"), nil)
	cri.ForgetCalls()
	n := newSite(t)
	n.cfg.Runtime.Endpoint = cri.Endpoint()
	n.source(t, "static", map[string]string{"web.yaml": goodPod})
	n.source(t, "more", map[string]string{"bad.yaml": "kind: Pod\napiVersion: v1\n"})
	n.policy(t, "a", "")
	dir := n.openState(t)
	if _, _, err := dir.NodeName("edge", nil); err != nil {
		t.Fatal(err)
	}
	n.write(t, "root/pods/uid/owner.json", "")
	n.write(t, "log/pods/uid/c/0.log", "")
	n.cfg.Paths.LogRoot = n.path("log")
	n.runVersion(t, server.NewVersion("v1.2.3"))
	before := n.contents(t)

	var findings []Finding
	Check(t.Context(), n.cfg, CheckOptions{Version: "v1.2.3"}, func(f Finding) { findings = append(findings, f) })
	hide(findings, cri.Endpoint())
	n.expect(t, findings,
		"ok state DIR/state: installation "+dir.Installation()+", node edge",
		"ok policies DIR/policies: 1 policy (a), 0 tests passed",
		"ok runtime ENDPOINT: fakecri 1.0.0",
		"warn runtime: 1 foreign pod; not touched",
		"warn runtime: "+KubeletWarning,
		"ok source static: 1 manifest, 0 bad",
		"fail source more: 1 manifest, 1 bad\nDIR/more/bad.yaml:1: metadata.name: Required value",
		"ok agent at DIR/run/w.sock: "+release(server.NewVersion("v1.2.3"))+" runs",
	)
	if diff := cmp.Diff(before, n.contents(t)); diff != "" {
		t.Errorf("files changed:\n%s", diff)
	}
	for _, call := range cri.Calls() {
		switch call.Method {
		case "Version", "Status", "RuntimeConfig", "ListPodSandbox":
		default:
			t.Errorf("the runtime was told to %s", call.Method)
		}
	}
}
