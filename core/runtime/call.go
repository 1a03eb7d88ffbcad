package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	podstatus "github.com/wardlet/wardlet/core/status"
)

// call gives every CRI call its deadline and turns gRPC's errors into ones
// that say what is wrong.
func (c *Client) call(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	if limit := deadline(request, time.Duration(c.timeout.Load())); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	began := time.Now()
	err := invoke(ctx, method, request, reply, conn, options...)
	if c.observer != nil {
		c.observer.Called(operation(method), time.Since(began), err != nil)
	}
	if err == nil {
		return nil
	}
	return &callError{
		endpoint: c.endpoint,
		method:   method[strings.LastIndexByte(method, '/')+1:],
		took:     time.Since(began),
		status:   status.Convert(err),
	}
}

// deadline is how long a call may take; 0 is no limit of its own.
func deadline(request any, ordinary time.Duration) time.Duration {
	switch r := request.(type) {
	case *runtimeapi.RunPodSandboxRequest:
		return 2 * ordinary
	case *runtimeapi.StopContainerRequest:
		return ordinary + time.Duration(r.GetTimeout())*time.Second
	case *runtimeapi.PullImageRequest:
		return 0
	default:
		return ordinary
	}
}

// callError is a CRI call that failed.
type callError struct {
	endpoint string
	method   string
	took     time.Duration
	status   *status.Status
}

// Error is the runtime's own words, or why there are none.
func (e *callError) Error() string {
	text := e.status.Message()
	switch {
	case e.unreachable():
		if _, cause, ok := strings.Cut(text, "Error while dialing: "); ok {
			text = strings.TrimSuffix(cause, `"`)
		}
		return fmt.Sprintf("container runtime at %s does not answer: %s; start it, or mend its endpoint in agent.toml", e.endpoint, text)
	case e.status.Code() == codes.DeadlineExceeded:
		return fmt.Sprintf("container runtime at %s did not answer %s within %s: %s", e.endpoint, e.method, e.took.Round(time.Millisecond), text)
	default:
		return text
	}
}

// GRPCStatus lets google.golang.org/grpc/status find the code.
func (e *callError) GRPCStatus() *status.Status { return e.status }

// Is makes errors.Is find the context's errors, and [podstatus.ErrAway].
func (e *callError) Is(target error) bool {
	switch target {
	case context.Canceled:
		return e.status.Code() == codes.Canceled
	case context.DeadlineExceeded:
		return e.status.Code() == codes.DeadlineExceeded
	case podstatus.ErrAway:
		return e.unreachable()
	default:
		return false
	}
}

// transportErrors begin the messages gRPC makes itself when there is no
// server. A runtime passes on the code Unavailable, of a registry for
// instance, in words of its own.
var transportErrors = []string{
	"connection error", "last connection error", "error reading from server", "closing transport",
	"transport is closing", "the connection is draining", "the stream is rejected",
}

// unreachable reports whether the runtime itself, not something behind it,
// is away.
func (e *callError) unreachable() bool {
	if e.status.Code() != codes.Unavailable {
		return false
	}
	for _, prefix := range transportErrors {
		if strings.HasPrefix(e.status.Message(), prefix) {
			return true
		}
	}
	return false
}

// interrupted reports whether err says nothing about what was asked for: the
// runtime is away, or the caller has given up.
func interrupted(err error) bool {
	return errors.Is(err, podstatus.ErrAway) || errors.Is(err, context.Canceled)
}

func isNotFound(err error) bool { return status.Code(err) == codes.NotFound }

// isRefused reports whether the runtime says that what was asked for cannot be in
// the state that things are in.
func isRefused(err error) bool { return status.Code(err) == codes.FailedPrecondition }
