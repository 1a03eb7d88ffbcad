//go:build e2e

package e2e

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/test/privateruntime"
)

// A private image is pulled with the login that the registry configuration has at the moment; when its registry is gone, a
// container that must always pull runs again what it ran last.
func TestPull_privateImageThenAwayFromItsRegistry(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	registry, err := n.StartRegistry(t.Context(), privateruntime.Login{User: "web", Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := registry.Stop(); err != nil {
			t.Error(err)
		}
	})
	a := newAgent(t, n, "pulls")
	login := func(password string) {
		auth := base64.StdEncoding.EncodeToString([]byte("web:" + password))
		a.write(t, a.Path("config.json"), fmt.Sprintf(`{"auths": {"%s": {"auth": "%s"}}}`, registry.Address(), auth))
	}
	login("wrong")
	a.write(t, a.ConfigFile(), strings.Replace(a.read(t, "agent.toml"), "[runtime]\n", "[runtime]\nregistry_config = \""+a.Path("config.json")+"\"\n", 1))
	a.start(t)
	a.manifest(t, "web.yaml", strings.Replace(webPod("web"), "image: registry.example/web:1\n", "image: "+registry.Image("web:1")+"\n    imagePullPolicy: Always\n", 1))
	a.event(t, "web", "Failed", "Pull image", "401 Unauthorized", "set runtime.registry_config")

	login("secret")
	first := a.running(t, "web")["web"]

	if err := registry.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := n.CRI.StopContainer(t.Context(), &criapi.StopContainerRequest{ContainerId: strings.TrimPrefix(container(first), "containerd://")}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the container runs again", func(ctx context.Context) error {
		all, err := a.pods(ctx)
		if err != nil {
			return err
		}
		p := all["web-pulls"]
		if !ready(p) || p.Status.ContainerStatuses[0].RestartCount == 0 {
			return fmt.Errorf("the pod is %s: %+v", p.Status.Phase, p.Status.ContainerStatuses)
		}
		if is, was := p.Status.ContainerStatuses[0].ImageID, first.Status.ContainerStatuses[0].ImageID; is != was {
			return fmt.Errorf("it runs %s, and ran %s", is, was)
		}
		return nil
	})
	a.event(t, "web", "OfflinePull", "Warning", "which it ran last", "connection refused", "the registry cannot be reached")
	a.remove(t, "web.yaml")
	a.nothingLeft(t, n)
}
