package runtime

import (
	"context"
	"fmt"
	"net/url"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// ExecStreams are a command and the streams of it that are wanted.
type ExecStreams struct {
	Command                    []string
	Stdin, Stdout, Stderr, TTY bool
}

// ExecURL returns where the runtime streams a program that it runs in a container.
func (r *Runtime) ExecURL(ctx context.Context, id string, what ExecStreams) (*url.URL, error) {
	answer, err := r.cri.Exec(ctx, &runtimeapi.ExecRequest{
		ContainerId: id, Cmd: what.Command, Tty: what.TTY, Stdin: what.Stdin, Stdout: what.Stdout, Stderr: what.Stderr,
	})
	if err != nil {
		return nil, fmt.Errorf("exec in container %s: %w", id, err)
	}
	return url.Parse(answer.GetUrl())
}
