package pleg

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// Runtime is what the generator needs of a container runtime. Both calls
// return soon after their context ends.
type Runtime interface {
	// ListPods gives every pod that has a sandbox or a container, whether
	// running or not. It bounds its own time: the next list waits for it.
	ListPods(ctx context.Context) ([]status.ObservedPod, error)
	// InspectPod gives all there is to know of one pod. A pod the runtime
	// does not have is one without sandboxes and containers, not an error.
	InspectPod(ctx context.Context, uid types.UID) (status.ObservedPod, error)
}
