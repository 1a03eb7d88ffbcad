package fakecri

import (
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestAContainerThatIsKeptStaysUntilARestart(t *testing.T) {
	t.Parallel()
	c := start(t)
	sandbox, id := c.running(t, Program{})
	c.Keep(id)
	wantExit(t, c.status(t, id), 128, "StartError")

	_, err := c.runtime.StopContainer(t.Context(), &runtimeapi.StopContainerRequest{ContainerId: id})
	wantCode(t, "stop", codes.OK, err)
	_, err = c.runtime.RemoveContainer(t.Context(), &runtimeapi.RemoveContainerRequest{ContainerId: id})
	wantCode(t, "remove", codes.FailedPrecondition, err)
	_, err = c.runtime.StopPodSandbox(t.Context(), &runtimeapi.StopPodSandboxRequest{PodSandboxId: sandbox})
	wantCode(t, "stop the sandbox", codes.OK, err)
	_, err = c.runtime.RemovePodSandbox(t.Context(), &runtimeapi.RemovePodSandboxRequest{PodSandboxId: sandbox})
	wantCode(t, "remove the sandbox", codes.FailedPrecondition, err)

	c.Stop()
	_, err = c.runtime.Version(t.Context(), &runtimeapi.VersionRequest{})
	wantCode(t, "while it is away", codes.Unavailable, err)
	if err := c.Serve(); err != nil {
		t.Fatal(err)
	}
	_, err = c.runtime.RemovePodSandbox(t.Context(), &runtimeapi.RemovePodSandboxRequest{PodSandboxId: sandbox}, grpc.WaitForReady(true))
	wantCode(t, "remove the sandbox after a restart", codes.OK, err)
}
