package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/test/privateruntime"
)

// Runtime is a private runtime with a connection to it.
type Runtime struct {
	*privateruntime.Runtime
	// Connection is nil after Close.
	Connection *grpc.ClientConn
	CRI        criapi.RuntimeServiceClient
}

// StartRuntime starts a runtime and connects to it. If it fails, nothing is left.
func StartRuntime(ctx context.Context, options privateruntime.Options) (*Runtime, error) {
	started, err := privateruntime.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	connection, err := privateruntime.Dial(started.Endpoint())
	if err != nil {
		return nil, errors.Join(err, started.Stop(context.WithoutCancel(ctx)))
	}
	return &Runtime{started, connection, criapi.NewRuntimeServiceClient(connection)}, nil
}

// Socket returns the path of the runtime's socket, which is also an argument of its shims.
func (r *Runtime) Socket() string { return strings.TrimPrefix(r.Endpoint(), "unix://") }

// Close removes the runtime and reports what is left of it. It may be called again.
func (r *Runtime) Close(ctx context.Context) error {
	var failed []error
	if r.Connection != nil {
		failed = append(failed, r.Connection.Close())
		r.Connection = nil
	}
	failed = append(failed, r.Stop(ctx))
	for _, left := range r.Leftovers() {
		failed = append(failed, fmt.Errorf("left of runtime %s: %s", r.Name(), left))
	}
	return errors.Join(failed...)
}
