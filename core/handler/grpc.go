package handler

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	v1 "k8s.io/api/core/v1"
)

// grpc asks the health service of a server whether it serves.
func (r *Runner) grpc(ctx context.Context, to Target, action *v1.GRPCAction) (Outcome, error) {
	address := net.JoinHostPort(to.IP, strconv.Itoa(int(action.Port)))
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithUserAgent(r.Agent), grpc.WithNoProxy(),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return dial(ctx, "tcp", address)
		}))
	if err != nil {
		return Outcome{}, err
	}
	defer conn.Close()
	service := ""
	if action.Service != nil {
		service = *action.Service
	}
	answer, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: service})
	switch code := status.Code(err); {
	case code == codes.Unimplemented:
		return Outcome{Message: "error: this server does not implement the grpc health protocol (grpc.health.v1.Health): " + status.Convert(err).Message()}, nil
	case code == codes.DeadlineExceeded:
		return Outcome{Message: "timeout: health rpc did not complete within its time: " + status.Convert(err).Message()}, nil
	case err != nil:
		return Outcome{Message: "error: health rpc probe failed: " + status.Convert(err).Message()}, nil
	}
	if state := answer.GetStatus(); state != grpc_health_v1.HealthCheckResponse_SERVING {
		return Outcome{Message: fmt.Sprintf("service unhealthy (responded with %q)", state)}, nil
	}
	return Outcome{OK: true, Message: "service healthy"}, nil
}
