package handler

import (
	"context"
	"errors"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Probe carries out a probe once. An error says that it could not be carried out, which says nothing of the container.
func (r *Runner) Probe(ctx context.Context, to Target, probe *v1.Probe) (Outcome, error) {
	timeout := time.Duration(max(probe.TimeoutSeconds, 1)) * time.Second
	if probe.Exec != nil {
		return r.exec(ctx, to, probe.Exec, timeout)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	switch {
	case probe.HTTPGet != nil:
		return r.http(ctx, to, probe.HTTPGet)
	case probe.TCPSocket != nil:
		return tcp(ctx, to, probe.TCPSocket)
	case probe.GRPC != nil:
		return r.grpc(ctx, to, probe.GRPC)
	}
	return Outcome{}, errors.New("the probe names no handler")
}
