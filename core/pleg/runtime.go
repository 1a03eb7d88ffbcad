package pleg

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// Runtime is what the generator needs of a container runtime. All calls return
// soon after their context ends; an inspection that does not is given up, and its
// pod cannot be inspected until it does.
type Runtime interface {
	// ListPods gives every pod that has a sandbox or a container, whether
	// running or not. It bounds its own time: the next list waits for it.
	ListPods(ctx context.Context) ([]status.ObservedPod, error)
	// InspectPod gives all there is to know of one pod. A pod the runtime
	// does not have is one without sandboxes and containers, not an error.
	InspectPod(ctx context.Context, uid types.UID) (status.ObservedPod, error)
	// WatchPods tells of changes until the stream of them ends, and then why it
	// did; the error is never nil. It calls opened when the runtime has been
	// asked, which is some time before it tells of all that happens, and changed
	// for every change; both on the goroutine it was called on. changed does not
	// block. The error is status.ErrNoEvents where the runtime has no stream.
	WatchPods(ctx context.Context, opened func(), changed func(status.PodChange)) error
}
