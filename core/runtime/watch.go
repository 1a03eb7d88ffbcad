package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// errStreamEnded is the error of a stream that the runtime closed without an error.
var errStreamEnded = errors.New("the runtime closed its event stream")

// WatchPods reports changes of the pods of this installation until the runtime's event stream
// breaks, and returns the reason. It calls opened when it has sent the request. It cannot see when
// the runtime begins to send events, so events of the first moments may be missing. changed must
// not block, because containerd delays all of its work for a slow reader.
//
// If the runtime has removed the sandbox of a pod, an event may contain only the ID of the
// container or sandbox. Its pod is then unknown, and the event is passed on. Other events of
// foreign pods are left out. The error is status.ErrNoEvents if the runtime has no event stream.
func (r *Runtime) WatchPods(ctx context.Context, opened func(), changed func(status.PodChange)) error {
	stream, err := r.cri.GetContainerEvents(ctx, &runtimeapi.GetEventsRequest{})
	if err != nil {
		return r.watchError(err)
	}
	opened()
	for {
		event, err := stream.Recv()
		if err != nil {
			return r.watchError(err)
		}
		if change, ok := r.change(event); ok {
			changed(change)
		}
	}
}

func (r *Runtime) watchError(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return errStreamEnded
	case grpcstatus.Code(err) == codes.Unimplemented:
		return fmt.Errorf("%w: %s", status.ErrNoEvents, grpcstatus.Convert(err).Message())
	default:
		return fmt.Errorf("following the runtime's events: %w",
			&callError{endpoint: r.config.Client.endpoint, method: "GetContainerEvents", status: grpcstatus.Convert(err)})
	}
}

// change converts an event, and reports whether it can concern a pod of this installation.
func (r *Runtime) change(e *runtimeapi.ContainerEventResponse) (status.PodChange, bool) {
	c := status.PodChange{ID: e.GetContainerId(), Kind: status.ChangeVisible, At: timeOf(e.GetCreatedAt())}
	sandbox := e.GetPodSandboxStatus()
	switch e.GetContainerEventType() {
	case runtimeapi.ContainerEventType_CONTAINER_CREATED_EVENT:
		c.Kind = status.ChangeCreated
	case runtimeapi.ContainerEventType_CONTAINER_DELETED_EVENT:
		// containerd reports the removal of a sandbox before it removes it.
		if sandbox == nil || sandbox.GetId() == c.ID {
			c.Kind = status.ChangeRemoving
		}
	default:
	}
	if sandbox != nil {
		c.UID = types.UID(sandbox.GetMetadata().GetUid())
		return c, r.owns(sandbox.GetAnnotations(), sandbox.GetLabels())
	}
	for _, container := range e.GetContainersStatuses() {
		c.UID = types.UID(container.GetLabels()[pod.LabelPodUID])
		return c, r.owns(container.GetAnnotations(), container.GetLabels())
	}
	return c, true
}
