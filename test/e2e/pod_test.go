//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// webImage is a name of the test image that policies allow.
const webImage = "registry.example/web:1"

// rawPod is a pod with one container, made by raw CRI calls.
type rawPod struct {
	sandbox   string
	container string
	log       string
	config    *criapi.PodSandboxConfig
}

// podSpec says which pod to run.
type podSpec struct {
	name        string
	hostNetwork bool
	args        []string
	ports       []*criapi.PortMapping
	cgroup      string
}

// run makes and starts a pod, the way a node agent does.
func (n node) run(t *testing.T, spec podSpec) rawPod {
	t.Helper()
	logs := t.TempDir()
	network, hostname := criapi.NamespaceMode_POD, spec.name
	if spec.hostNetwork {
		// In the host's network the host name is the host's: runc refuses another one.
		network, hostname = criapi.NamespaceMode_NODE, ""
	}
	config := &criapi.PodSandboxConfig{
		Metadata:     &criapi.PodSandboxMetadata{Name: spec.name, Namespace: "default", Uid: spec.name + "-uid"},
		Hostname:     hostname,
		LogDirectory: logs,
		PortMappings: spec.ports,
		Linux: &criapi.LinuxPodSandboxConfig{
			CgroupParent: spec.cgroup,
			SecurityContext: &criapi.LinuxSandboxSecurityContext{
				NamespaceOptions: &criapi.NamespaceOption{Network: network},
			},
		},
	}
	sandbox, err := n.CRI.RunPodSandbox(t.Context(), &criapi.RunPodSandboxRequest{Config: config})
	if err != nil {
		t.Fatalf("run the sandbox of pod %s: %v", spec.name, err)
	}
	created, err := n.CRI.CreateContainer(t.Context(), &criapi.CreateContainerRequest{
		PodSandboxId:  sandbox.GetPodSandboxId(),
		SandboxConfig: config,
		Config: &criapi.ContainerConfig{
			Metadata: &criapi.ContainerMetadata{Name: "web"},
			Image:    &criapi.ImageSpec{Image: webImage},
			Args:     spec.args,
			LogPath:  "web.log",
			Linux: &criapi.LinuxContainerConfig{
				SecurityContext: &criapi.LinuxContainerSecurityContext{
					NamespaceOptions: &criapi.NamespaceOption{Network: network},
				},
			},
		},
	})
	if err != nil {
		t.Fatalf("create the container of pod %s: %v", spec.name, err)
	}
	if _, err := n.CRI.StartContainer(t.Context(), &criapi.StartContainerRequest{ContainerId: created.GetContainerId()}); err != nil {
		t.Fatalf("start the container of pod %s: %v", spec.name, err)
	}
	return rawPod{sandbox.GetPodSandboxId(), created.GetContainerId(), filepath.Join(logs, "web.log"), config}
}

// address returns the pod's IP address.
func (n node) address(t *testing.T, p rawPod) string {
	t.Helper()
	status, err := n.CRI.PodSandboxStatus(t.Context(), &criapi.PodSandboxStatusRequest{PodSandboxId: p.sandbox})
	if err != nil {
		t.Fatalf("ask for pod %s: %v", p.config.GetMetadata().GetName(), err)
	}
	ip := status.GetStatus().GetNetwork().GetIp()
	if ip == "" {
		t.Fatalf("pod %s has no address", p.config.GetMetadata().GetName())
	}
	return ip
}

// remove stops and removes a pod in the order a node agent does, and checks its exit status.
func (n node) remove(t *testing.T, p rawPod) {
	t.Helper()
	if _, err := n.CRI.StopContainer(t.Context(), &criapi.StopContainerRequest{ContainerId: p.container, Timeout: 30}); err != nil {
		t.Fatalf("stop the container: %v", err)
	}
	status, err := n.CRI.ContainerStatus(t.Context(), &criapi.ContainerStatusRequest{ContainerId: p.container})
	if err != nil {
		t.Fatalf("ask for the container: %v", err)
	}
	if got := status.GetStatus(); got.GetState() != criapi.ContainerState_CONTAINER_EXITED || got.GetExitCode() != 0 {
		t.Errorf("after SIGTERM the container is %v with exit code %d, want exited with 0", got.GetState(), got.GetExitCode())
	}
	if _, err := n.CRI.RemoveContainer(t.Context(), &criapi.RemoveContainerRequest{ContainerId: p.container}); err != nil {
		t.Fatalf("remove the container: %v", err)
	}
	if _, err := n.CRI.StopPodSandbox(t.Context(), &criapi.StopPodSandboxRequest{PodSandboxId: p.sandbox}); err != nil {
		t.Fatalf("stop the sandbox: %v", err)
	}
	if _, err := n.CRI.RemovePodSandbox(t.Context(), &criapi.RemovePodSandboxRequest{PodSandboxId: p.sandbox}); err != nil {
		t.Fatalf("remove the sandbox: %v", err)
	}
}

// answers waits until a URL answers with a text.
func answers(t *testing.T, url, want string) {
	t.Helper()
	eventually(t, "get "+url, func(ctx context.Context) error {
		body, err := get(ctx, url)
		if err == nil && body != want {
			err = fmt.Errorf("got %q, want %q", body, want)
		}
		return err
	})
}

func get(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(response.Body)
	if closed := response.Body.Close(); err == nil {
		err = closed
	}
	return string(body), err
}

// logged waits until a container's log holds a text. Lines are "TIME STREAM TAG TEXT".
func logged(t *testing.T, p rawPod, want string) {
	t.Helper()
	eventually(t, "log "+p.log, func(context.Context) error {
		data, err := os.ReadFile(p.log)
		if err == nil && !strings.Contains(string(data), want) {
			err = fmt.Errorf("%q is not in it:\n%s", want, data)
		}
		return err
	})
}

// freePort returns a port of 127.0.0.1 that nothing listened on a moment ago.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return port
}
