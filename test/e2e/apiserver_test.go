//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/test/cluster/controlplane"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// clusterPrograms is the directory into which `tools/setup.sh cluster` builds.
const clusterPrograms = "../../build/tools"

// withAPIServer makes the agent a node of the server's cluster. It must be called before start.
func (a *agent) withAPIServer(t *testing.T, plane *controlplane.Cluster) {
	t.Helper()
	client, err := plane.Clients.Client("system:node:"+a.name, "system:nodes")
	if err != nil {
		t.Fatal(err)
	}
	a.write(t, a.Path("ca"), string(plane.Serving.PEM))
	a.write(t, a.Path("cert"), string(client.Cert))
	a.write(t, a.Path("key"), string(client.Key))
	a.write(t, a.Path("kubeconfig"), fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: node
contexts: [{name: node, context: {cluster: node, user: node}}]
clusters: [{name: node, cluster: {server: "https://%s", certificate-authority: ca}}]
users: [{name: node, user: {client-certificate: cert, client-key: key}}]
`, plane.Address()))
	config, err := os.ReadFile(a.ConfigFile())
	if err != nil {
		t.Fatal(err)
	}
	a.write(t, a.ConfigFile(), string(config)+fmt.Sprintf("[cluster]\nkubeconfig = %q\n", a.Path("kubeconfig")))
}

func TestPodsOfAnAPIServerOutliveItAndEndWhenItSaysSo(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	programs, err := filepath.Abs(clusterPrograms)
	if err != nil {
		t.Fatal(err)
	}
	plane, err := controlplane.Start(t.Context(), programs, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	do := func(method, path string, in any) {
		t.Helper()
		if err := plane.Admin().Do(t.Context(), method, path, in, nil); err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
	}
	do(http.MethodPost, "/api/v1/namespaces", &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}})
	do(http.MethodPost, "/api/v1/namespaces/shop/serviceaccounts", &v1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
	do(http.MethodPost, "/api/v1/namespaces/shop/pods", &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web-solo"},
		Spec: v1.PodSpec{
			NodeName: "solo", HostNetwork: true, AutomountServiceAccountToken: new(false), TerminationGracePeriodSeconds: new(int64(2)),
			Containers: []v1.Container{{Name: "main", Image: "registry.example/web:1", Args: []string{"sleep"}}},
		},
	})
	a := newAgent(t, n, "solo")
	a.withAPIServer(t, plane)
	a.start(t)
	container := a.running(t, "web")["web"].Status.ContainerStatuses[0].ContainerID

	atServer := func(ctx context.Context, want func(*v1.Pod) error) error {
		p := &v1.Pod{}
		err := plane.Admin().Do(ctx, http.MethodGet, "/api/v1/namespaces/shop/pods/web-solo", nil, p)
		if err != nil {
			p = nil
		}
		return want(p)
	}
	eventually(t, "the API server has the pod's status", func(ctx context.Context) error {
		return atServer(ctx, func(p *v1.Pod) error {
			switch {
			case p == nil:
				return errors.New("it is gone")
			case p.Status.Phase != v1.PodRunning || len(p.Status.ContainerStatuses) == 0 || p.Status.ContainerStatuses[0].ContainerID != container || p.Status.HostIP == "":
				return fmt.Errorf("it is %+v", p.Status)
			}
			return nil
		})
	})

	plane.StopServer(true)
	a.kill()
	a.start(t)
	a.manifest(t, "db.yaml", hostPod("db", "sleep"))
	if got := a.running(t, "web", "db")["web"].Status.ContainerStatuses[0].ContainerID; got != container {
		t.Errorf("without its server the pod was started again: %s, before %s", got, container)
	}

	if err := plane.StartServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	do(http.MethodDelete, "/api/v1/namespaces/shop/pods/web-solo", nil)
	eventually(t, "the pod's object is gone", func(ctx context.Context) error {
		return atServer(ctx, func(p *v1.Pod) error {
			if p != nil {
				return fmt.Errorf("it is %s", p.Status.Phase)
			}
			return nil
		})
	})
	a.remove(t, "db.yaml")
	a.nothingLeft(t, n)
	a.stop(t)
}

func TestAPodOfAnAPIServerThatWasNotLetPassGoesWhenItIsDeleted(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	plane := startPlane(t)
	a := newAgent(t, n, "strict")
	a.withPolicies(t)
	a.withAPIServer(t, plane)
	policy := func(name, hook string, module []byte) {
		t.Helper()
		a.put(t, a.Path("policies"), name, hook, module, fmt.Sprintf("[match]\nlabel_selector = \"do = %s\"\n", name))
	}
	policy("holds", "admit", wasmtest.Answering(holds, "Later", "not yet"))
	policy("denies", "admit", wasmtest.Answering(denies, "Never", "not here"))
	policy("defers", "filter", wasmtest.Filtering(2, 3_600_000, "NotNow", "not now"))
	do := func(method, path string, in, out any) {
		t.Helper()
		if err := plane.Admin().Do(t.Context(), method, path, in, out); err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
	}
	do(http.MethodPost, "/api/v1/namespaces", &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, nil)
	do(http.MethodPost, "/api/v1/namespaces/shop/serviceaccounts", &v1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, nil)
	const pods = "/api/v1/namespaces/shop/pods/"
	names := []string{"holds", "denies", "defers"}
	for _, name := range names {
		do(http.MethodPost, pods, &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"do": name}},
			Spec: v1.PodSpec{
				NodeName: "strict", HostNetwork: true, AutomountServiceAccountToken: new(false),
				Containers: []v1.Container{{Name: "main", Image: webOne, Args: []string{"sleep"}}},
			},
		}, nil)
	}
	a.start(t)
	a.says(t, "get pods", "shop/defers: the new pod in shop/defers is suppressed", "shop/denies: denied by policy", "shop/holds: held")
	for _, name := range names {
		do(http.MethodDelete, pods+name, nil, nil)
	}
	eventually(t, "the API server has none of them", func(ctx context.Context) error {
		var left v1.PodList
		if err := plane.Admin().Do(ctx, http.MethodGet, pods, nil, &left); err != nil {
			return err
		}
		for i := range left.Items {
			return fmt.Errorf("%s is there, %s", left.Items[i].Name, left.Items[i].Status.Phase)
		}
		return nil
	})
	a.nothingLeft(t, n)
	a.stop(t)
}
