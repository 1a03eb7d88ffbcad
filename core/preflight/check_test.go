package preflight

import (
	"net"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/node"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/runtime"
	"github.com/wardlet/wardlet/test/fakecri"
	"github.com/wardlet/wardlet/test/site"
)

func TestACheckBesideAnAgentThatRunsLooksAtEverythingAndChangesNothing(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	sandbox(t, cri, "a", kubeletLabels("a"), nil)
	cri.ForgetCalls()
	n := newSite(t)
	n.Cfg.Runtime.Endpoint = cri.Endpoint()
	n.Source(t, "static", map[string]string{"web.yaml": site.GoodPod})
	n.Source(t, "more", map[string]string{"bad.yaml": "kind: Pod\napiVersion: v1\n"})
	n.policy(t, "a", "")
	dir := n.openState(t)
	if _, _, err := dir.NodeName("edge", nil); err != nil {
		t.Fatal(err)
	}
	n.Write(t, "root/pods/uid/owner.json", "")
	n.Write(t, "log/pods/uid/c/0.log", "")
	n.Cfg.Paths.LogRoot = n.Path("log")
	n.Cfg.NodeAPI.CertFile, n.Cfg.NodeAPI.ClientCAFile = n.Path("node.crt"), n.Path("clients.crt")
	n.Cfg.Cluster.NodeIP = "192.0.2.9"
	n.runVersion(t, api.NewVersion("v1.2.3"))
	before := n.contents(t)

	var findings []Finding
	Check(t.Context(), n.Cfg, CheckOptions{Version: "v1.2.3"}, func(f Finding) { findings = append(findings, f) })
	hide(findings, cri.Endpoint())
	n.expect(t, findings,
		"ok state DIR/state: installation "+dir.Installation()+", node edge",
		"ok policies DIR/policies: 1 policy (a), 0 tests passed",
		"ok runtime ENDPOINT: fakecri 1.0.0",
		"warn runtime: 1 foreign pod; not touched",
		"warn runtime: "+runtime.KubeletWarning,
		"fail node_ip 192.0.2.9: "+node.HeldIP(net.IPv4(192, 0, 2, 9)).Error()+": write one of the machine's, or leave cluster.node_ip out",
		"fail node_api DIR/node.crt: certificate: open DIR/node.crt: no such file or directory",
		"ok source static: 1 manifest, 0 bad",
		"fail source more: 1 manifest, 1 bad\nDIR/more/bad.yaml:1: metadata.name: Required value",
		"ok agent at DIR/run/w.sock: "+release(api.NewVersion("v1.2.3"))+" runs",
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

// TestCheck_stateRemovedBelowAnAgent: only the running agent still knows which pods are its own.
func TestCheck_stateRemovedBelowAnAgent(t *testing.T) {
	t.Parallel()
	const (
		anew = "the next start makes it anew, for installation ID, node edge, as DIR/root/identity says, and takes what runs as admitted"
		lost = "fail state DIR/state: not there, though an agent runs, and neither is the second copy of the installation ID in DIR/root/identity: " +
			"the next start takes what runs for another's. Restore one of both from a backup; without one, " +
			"take the manifests of all pods away, so that the agent ends them, before it is started again"
		runtime = "ok runtime ENDPOINT: fakecri 1.0.0"
		noPods  = "warn pod_root DIR/root: DIR/root/pods is not there, though an agent has been here; it is made again with the next pod. " +
			"What pods that run keep in volumes there is lost: start them anew"
	)
	running := "ok agent at DIR/run/w.sock: " + release(api.NewVersion("v1.2.3")) + " runs"
	for name, test := range map[string]struct {
		remove []string
		runs   bool
		want   []string
	}{
		"the second copy is left": {[]string{"state"}, true, []string{"warn state DIR/state: not there; " + anew, runtime, running}},
		"both are gone":           {[]string{"state", "root/identity"}, true, []string{lost, runtime, "warn runtime: 1 pod is there; whose is not known without the state", running}},
		"all is gone":             {[]string{"state", "root"}, true, []string{lost, noPods, runtime, "warn runtime: 1 pod is there; whose is not known without the state", running}},
		"no agent runs": {[]string{"state", "root"}, false, []string{
			"ok state DIR/state: not there yet, the first start makes it; node edge", runtime, "warn runtime: 1 foreign pod; not touched", "ok agent at DIR/run/w.sock: not running",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cri := fakecri.Start(t)
			n := newSite(t)
			n.Cfg.Runtime.Endpoint = cri.Endpoint()
			dir := n.openState(t)
			n.Write(t, "root/pods/uid/owner.json", "")
			n.Cfg.Paths.LogRoot = n.Path("log")
			n.Write(t, "log/pods/x_y_uid/c/0.log", "")
			sandbox(t, cri, "a", kubeletLabels("a"), map[string]string{pod.AnnotationInstallation: dir.Installation()})
			if test.runs {
				n.runVersion(t, api.NewVersion("v1.2.3"))
			}
			for _, path := range test.remove {
				if err := os.RemoveAll(n.Path(path)); err != nil {
					t.Fatal(err)
				}
			}
			var findings []Finding
			Check(t.Context(), n.Cfg, CheckOptions{Version: "v1.2.3"}, func(f Finding) {
				f.Message = strings.ReplaceAll(f.Message, dir.Installation(), "ID")
				if !strings.HasPrefix(f.Subject, "policies") {
					findings = append(findings, f)
				}
			})
			hide(findings, cri.Endpoint())
			n.expect(t, findings, test.want...)
		})
	}
}
