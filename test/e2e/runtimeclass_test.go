//go:build e2e

package e2e

import (
	"strings"
	"testing"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestRuntimeClass_ofAStaticPodIsAHandlerOfTheConfiguration(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "classes")
	a.write(t, a.ConfigFile(), a.read(t, "agent.toml")+
		"\n[[runtime.handler]]\nclass = \"plain.example\"\nhandler = \"runc\"\n[[runtime.handler]]\nclass = \"absent\"\n")
	a.start(t)
	of := func(name, class string) string {
		return strings.Replace(webPod(name), "spec:\n", "spec:\n  overhead: {cpu: 10m, memory: 1Mi}\n  runtimeClassName: "+class+"\n", 1)
	}
	a.manifest(t, "plain.yaml", of("plain", "plain.example"))
	a.manifest(t, "absent.yaml", of("absent", "absent"))
	a.manifest(t, "lost.yaml", of("lost", "lost"))
	a.running(t, "plain")
	a.event(t, "absent", "FailedCreatePodSandBox", `run sandbox with the runtime handler "absent"`)
	a.event(t, "lost", "FailedCreatePodSandBox", `agent.toml has no class "lost", and the directory of objects no RuntimeClass; add [[runtime.handler]] with class = "lost" and restart the agent`)

	sandboxes, err := n.CRI.ListPodSandbox(t.Context(), &criapi.ListPodSandboxRequest{})
	if err != nil {
		t.Fatal(err)
	}
	handlers := map[string]string{}
	for _, s := range sandboxes.GetItems() {
		handlers[s.GetMetadata().GetName()] = s.GetRuntimeHandler()
	}
	if len(handlers) != 1 || handlers["plain-classes"] != "runc" {
		t.Errorf("handlers of sandboxes %v, want runc of plain-classes alone", handlers)
	}
	a.remove(t, "plain.yaml", "absent.yaml", "lost.yaml")
	a.nothingLeft(t, n)
}
