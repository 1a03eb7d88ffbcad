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

// errStreamEnded is why a stream ended that the runtime ended in good order.
var errStreamEnded = errors.New("the runtime closed its event stream")

// WatchPods tells of what happens to the pods of this installation, until the
// runtime's stream of events ends, and then why it did. It calls opened when
// the runtime has been asked: that it listens is not to be seen, so events of
// the first moments may be missing. changed must not block: containerd holds up
// all of its work for a reader that does not keep up.
//
// Of a pod whose sandbox the runtime has removed an event may carry nothing but
// the ID of the container or sandbox; then its pod is unknown, and it is
// handed on. Other events of pods that are not ours are left out. The error is
// status.ErrNoEvents where the runtime has no such stream.
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

// change is what an event tells, if it can be about a pod of ours.
func (r *Runtime) change(e *runtimeapi.ContainerEventResponse) (status.PodChange, bool) {
	c := status.PodChange{ID: e.GetContainerId(), Kind: status.ChangeVisible, At: timeOf(e.GetCreatedAt())}
	sandbox := e.GetPodSandboxStatus()
	switch e.GetContainerEventType() {
	case runtimeapi.ContainerEventType_CONTAINER_CREATED_EVENT:
		c.Kind = status.ChangeCreated
	case runtimeapi.ContainerEventType_CONTAINER_DELETED_EVENT:
		// containerd tells that a sandbox is removed before it is.
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
