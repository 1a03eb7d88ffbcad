package runtime

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// The cgroup drivers of runtimes.
const (
	driverCgroupfs = "cgroupfs"
	driverSystemd  = "systemd"
)

// driverPatience bounds the question for the cgroup driver after a start that
// failed.
const driverPatience = 5 * time.Second

// CgroupDriver returns the runtime's cgroup driver, "cgroupfs" or "systemd". It
// returns "" for a runtime that does not report one: containerd before 2.0 lacks
// the call.
func (c *Client) CgroupDriver(ctx context.Context) (string, error) {
	answer, err := c.runtime.RuntimeConfig(ctx, &runtimeapi.RuntimeConfigRequest{})
	switch {
	case status.Code(err) == codes.Unimplemented:
		return "", nil
	case err != nil:
		return "", fmt.Errorf("ask the runtime's cgroup driver: %w", err)
	case answer.GetLinux() == nil: // its zero value would read as systemd
		return "", nil
	}
	switch driver := answer.GetLinux().GetCgroupDriver(); driver {
	case runtimeapi.CgroupDriver_CGROUPFS:
		return driverCgroupfs, nil
	case runtimeapi.CgroupDriver_SYSTEMD:
		return driverSystemd, nil
	default:
		return "", nil
	}
}

// DriverMismatch returns an error with the remedy if the runtime's cgroup driver
// is not the agent's. An unknown driver, "", is no mismatch.
func DriverMismatch(runtimes, agents string) error {
	if runtimes == "" || runtimes == agents {
		return nil
	}
	return fmt.Errorf("the runtime's cgroup driver is %s, the agent's is %s, so no pod can start: set SystemdCgroup = %t in containerd's configuration and restart containerd",
		runtimes, agents, agents == driverSystemd)
}

// explain returns why the runtime refused a start: its cgroup driver first, if
// that is not the agent's, because the runtime's own words do not name it.
func (r *Runtime) explain(ctx context.Context, refused error) error {
	if r.config.CgroupDriver == "" || interrupted(refused) {
		return refused
	}
	ctx, cancel := context.WithTimeout(ctx, driverPatience)
	defer cancel()
	driver, err := r.config.Client.CgroupDriver(ctx)
	if err != nil {
		return refused
	}
	if mismatch := DriverMismatch(driver, r.config.CgroupDriver); mismatch != nil {
		return fmt.Errorf("%w; the runtime answers: %w", mismatch, refused)
	}
	return refused
}
