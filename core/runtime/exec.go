package runtime

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/handler"
)

// ExecStreams is a command and the streams that the caller requests.
type ExecStreams struct {
	Command                    []string
	Stdin, Stdout, Stderr, TTY bool
}

// Exec runs a program in a container and returns its output and its exit code. The error is
// handler.ErrTimeout if the program has not exited in time. It is another one if the runtime does
// not answer in time.
func (r *Runtime) Exec(ctx context.Context, id string, command []string, timeout time.Duration) (output []byte, code int32, err error) {
	answer, err := r.cri.ExecSync(ctx, &runtimeapi.ExecSyncRequest{ContainerId: id, Cmd: command, Timeout: int64(timeout / time.Second)})
	if late, ok := errors.AsType[*callError](err); status.Code(err) == codes.DeadlineExceeded && (!ok || !late.gaveUp) {
		return nil, 0, handler.ErrTimeout
	}
	if err != nil {
		return nil, 0, fmt.Errorf("exec in container %s: %w", id, err)
	}
	return append(answer.GetStdout(), answer.GetStderr()...), answer.GetExitCode(), nil
}

// ExecURL returns the URL at which the runtime streams a program that it runs in a container.
func (r *Runtime) ExecURL(ctx context.Context, id string, what ExecStreams) (*url.URL, error) {
	answer, err := r.cri.Exec(ctx, &runtimeapi.ExecRequest{
		ContainerId: id, Cmd: what.Command, Tty: what.TTY, Stdin: what.Stdin, Stdout: what.Stdout, Stderr: what.Stderr,
	})
	if err != nil {
		return nil, fmt.Errorf("exec in container %s: %w", id, err)
	}
	return url.Parse(answer.GetUrl())
}

// AttachURL returns the URL at which the runtime streams the main program of a container. what has
// no command.
func (r *Runtime) AttachURL(ctx context.Context, id string, what ExecStreams) (*url.URL, error) {
	answer, err := r.cri.Attach(ctx, &runtimeapi.AttachRequest{ContainerId: id, Tty: what.TTY, Stdin: what.Stdin, Stdout: what.Stdout, Stderr: what.Stderr})
	if err != nil {
		return nil, fmt.Errorf("attach to container %s: %w", id, err)
	}
	return url.Parse(answer.GetUrl())
}

// Checkpoint writes the state of a container to a file, within timeout; 0 for the runtime's own limit.
func (r *Runtime) Checkpoint(ctx context.Context, id, path string, timeout time.Duration) error {
	_, err := r.cri.CheckpointContainer(ctx, &runtimeapi.CheckpointContainerRequest{ContainerId: id, Location: path, Timeout: int64(timeout / time.Second)})
	if err != nil {
		return fmt.Errorf("checkpoint of container %s: %w", id, err)
	}
	return nil
}

// PortForwardURL returns the URL at which the runtime streams connections to ports of a sandbox, 1
// to 65535. ports is empty if each connection specifies its own port.
func (r *Runtime) PortForwardURL(ctx context.Context, sandbox string, ports []int32) (*url.URL, error) {
	answer, err := r.cri.PortForward(ctx, &runtimeapi.PortForwardRequest{PodSandboxId: sandbox, Port: ports})
	if err != nil {
		return nil, fmt.Errorf("port-forward to sandbox %s: %w", sandbox, err)
	}
	return url.Parse(answer.GetUrl())
}
