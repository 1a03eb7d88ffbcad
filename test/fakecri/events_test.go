package fakecri

import (
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// follow opens a stream of events and waits until the server has it.
func (c caller) follow(t *testing.T) grpc.ServerStreamingClient[runtimeapi.ContainerEventResponse] {
	t.Helper()
	stream, err := c.runtime.GetContainerEvents(t.Context(), &runtimeapi.GetEventsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); c.Listeners() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nobody listens")
		}
	}
	return stream
}

func TestEventsTellWhatHappens(t *testing.T) {
	t.Parallel()
	c := start(t)
	stream := c.follow(t)
	sandbox, id := c.running(t, Program{Exits: true, After: 20 * time.Millisecond})
	want := []struct {
		id   string
		kind runtimeapi.ContainerEventType
	}{
		{sandbox, runtimeapi.ContainerEventType_CONTAINER_CREATED_EVENT},
		{sandbox, runtimeapi.ContainerEventType_CONTAINER_STARTED_EVENT},
		{id, runtimeapi.ContainerEventType_CONTAINER_CREATED_EVENT},
		{id, runtimeapi.ContainerEventType_CONTAINER_STARTED_EVENT},
		{id, runtimeapi.ContainerEventType_CONTAINER_STOPPED_EVENT},
		{sandbox, runtimeapi.ContainerEventType_CONTAINER_STOPPED_EVENT},
		{id, runtimeapi.ContainerEventType_CONTAINER_DELETED_EVENT},
		{sandbox, runtimeapi.ContainerEventType_CONTAINER_DELETED_EVENT},
	}
	for i, w := range want {
		if i == 5 {
			if _, err := c.runtime.RemovePodSandbox(t.Context(), &runtimeapi.RemovePodSandboxRequest{PodSandboxId: sandbox}); err != nil {
				t.Fatal(err)
			}
		}
		e, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if e.GetContainerId() != w.id || e.GetContainerEventType() != w.kind || e.GetPodSandboxStatus().GetId() != sandbox || e.GetCreatedAt() == 0 {
			t.Errorf("event %d is %v, want %v of %s", i, e, w.kind, w.id)
		}
	}
}

func TestFaultsOfEvents(t *testing.T) {
	t.Parallel()
	c := start(t)
	stream := c.follow(t)
	c.BreakEvents()
	if _, err := stream.Recv(); status.Code(err) != codes.Unavailable {
		t.Errorf("a broken stream ends with %v", err)
	}
	c.Fail("GetContainerEvents", status.Error(codes.Unimplemented, "no such call"))
	refused, err := c.runtime.GetContainerEvents(t.Context(), &runtimeapi.GetEventsRequest{})
	if err == nil {
		_, err = refused.Recv()
	}
	if status.Code(err) != codes.Unimplemented {
		t.Errorf("a refused stream ends with %v", err)
	}
	c.Clear("GetContainerEvents")
	stream = c.follow(t)
	c.MuteEvents(true)
	c.running(t, Program{})
	c.MuteEvents(false)
	loud, err := c.sandbox(t, "loud", 0)
	if err != nil {
		t.Fatal(err)
	}
	if e, err := stream.Recv(); err != nil || e.GetContainerId() != loud {
		t.Errorf("after silence: %v, %v", e, err)
	}
}
