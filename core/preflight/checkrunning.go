package preflight

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/server/client"
)

// answers reports whether an agent accepts connections at its socket.
func answers(socket string) bool {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

// checkRunning checks whether a running agent, if there is one, has the version of this program.
func checkRunning(ctx context.Context, socket, version string, timeout time.Duration) Finding {
	subject := "agent at " + socket
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var runs api.Version
	err := client.New(socket).Patient(timeout).Get(ctx, "/v1/version", &runs)
	own := api.NewVersion(version)
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ECONNREFUSED):
		return Finding{LevelOK, subject, "not running"}
	case err != nil:
		return Finding{LevelWarn, subject, err.Error()}
	case runs.Version != own.Version || runs.Revision != own.Revision:
		return Finding{LevelWarn, subject, fmt.Sprintf("%s runs, this is %s; restart it to run what was checked", release(runs), release(own))}
	}
	return Finding{LevelOK, subject, release(runs) + " runs"}
}

func release(v api.Version) string {
	if v.Revision == "" {
		return v.Version
	}
	return v.Version + " (" + v.Revision[:min(len(v.Revision), 12)] + ")"
}
