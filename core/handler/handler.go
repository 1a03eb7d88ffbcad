package handler

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Exec runs a program in a container and returns what it wrote, both streams together, and its exit code. timeout is how
// long it may take; ErrTimeout says that it took longer.
type Exec func(ctx context.Context, containerID string, command []string, timeout time.Duration) (output []byte, code int32, err error)

// ErrTimeout says that a program in a container has not ended in time.
var ErrTimeout = errors.New("timed out")

// Outcome is what came of a handler.
type Outcome struct {
	// OK is true for a success.
	OK bool
	// Warning is true for a success that is not what it seems: an answer that leads to another host.
	Warning bool
	// Message is the text for people.
	Message string
}

// Target is the container that a handler is for.
type Target struct {
	Container *v1.Container
	// ID is the runtime's, without its scheme; IP is the pod's address.
	ID, IP string
}

// Runner carries out handlers. It is safe for concurrent use.
type Runner struct {
	Exec Exec
	// Expand replaces $(NAME) in a command by variables that the container's env says in so many words.
	Expand func(command []string, env []v1.EnvVar) []string
	// Agent is the User-Agent of requests.
	Agent string
}

// maxOutput bounds what is read of the output of a handler, in bytes.
const maxOutput = 10 << 10

// exec runs a program in the container.
func (r *Runner) exec(ctx context.Context, to Target, action *v1.ExecAction, timeout time.Duration) (Outcome, error) {
	output, code, err := r.Exec(ctx, to.ID, r.Expand(action.Command, to.Container.Env), timeout)
	output = output[:min(len(output), maxOutput)]
	switch {
	case errors.Is(err, ErrTimeout):
		return Outcome{Message: fmt.Sprintf("command timed out after %s", timeout)}, nil
	case err != nil:
		return Outcome{}, err
	}
	return Outcome{OK: code == 0, Message: string(output)}, nil
}

// tcp opens a connection and closes it.
func tcp(ctx context.Context, to Target, action *v1.TCPSocketAction) (Outcome, error) {
	port, err := portOf(action.Port, to.Container)
	if err != nil {
		return Outcome{}, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(hostOr(action.Host, to.IP), strconv.Itoa(port)))
	if err != nil {
		return Outcome{Message: err.Error()}, nil //nolint:nilerr // that nothing listens is what came of it
	}
	// Closed without waiting for what was sent, so that the port is free again at once.
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.SetLinger(0)
	}
	conn.Close()
	return Outcome{OK: true}, nil
}

// portOf resolves the port of a handler: a number, or the name of one of the container's ports.
func portOf(port intstr.IntOrString, c *v1.Container) (int, error) {
	number := port.IntValue()
	if port.Type == intstr.String {
		for i := range c.Ports {
			if c.Ports[i].Name == port.StrVal {
				number = int(c.Ports[i].ContainerPort)
			}
		}
	}
	if number < 1 || number > 65535 {
		return 0, fmt.Errorf("port %q is no number from 1 to 65535, and no port of container %s has that name", port.String(), c.Name)
	}
	return number, nil
}

func hostOr(host, fallback string) string {
	if host == "" {
		return fallback
	}
	return host
}
