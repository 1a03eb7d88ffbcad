package runtime

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

const (
	// minStopTimeout is the least time a container has between the signal to end
	// and the kill.
	minStopTimeout = 2 * time.Second
	// startGrace is how long a start that is not wanted any more may go on. A runtime
	// that is left alone in the middle of it may keep the container for ever: see
	// status.ErrContainerStuck.
	startGrace = 5 * time.Second
)

// StartContainer creates and starts a container. The ID is set whenever the
// container exists, also where starting it failed. Errors are *status.Fault
// with reason CreateContainerConfigError, CreateContainerError or
// RunContainerError, except where the runtime is away or ctx has ended. A start
// that is under way when ctx ends has 5 s to finish. Where many are made it waits
// for its turn.
func (r *Runtime) StartContainer(ctx context.Context, run pod.ContainerRun) (string, error) {
	request, err := r.createRequest(ctx, &run)
	if err != nil {
		return "", &status.Fault{Reason: "CreateContainerConfigError", Err: err}
	}
	done, err := r.limiter.acquireContainer(ctx)
	if err != nil {
		return "", startFault(&run, "CreateContainerError", err)
	}
	defer done()
	created, err := r.cri.CreateContainer(ctx, request)
	if err != nil {
		return "", startFault(&run, "CreateContainerError", r.explain(ctx, err))
	}
	id := created.GetContainerId()
	longer, release := extendContext(ctx, startGrace)
	defer release()
	if _, err := r.cri.StartContainer(longer, &runtimeapi.StartContainerRequest{ContainerId: id}); err != nil {
		return id, startFault(&run, "RunContainerError", r.explain(longer, err))
	}
	if err := r.linkLog(&run, id); err != nil {
		r.config.Logger.Warn("log link not made: collectors will not find the log", "pod", pod.FullName(run.Pod), "uid", run.Pod.UID, "container", run.Container.Name, "err", err)
	}
	return id, nil
}

func (r *Runtime) createRequest(ctx context.Context, run *pod.ContainerRun) (*runtimeapi.CreateContainerRequest, error) {
	sandbox, _, err := r.configs.Sandbox(&run.Sandbox)
	if err != nil {
		return nil, err
	}
	config, err := r.configs.Container(ctx, run, r.mounts(run))
	if err != nil {
		return nil, err
	}
	if err := r.prepareFiles(run); err != nil {
		return nil, err
	}
	return &runtimeapi.CreateContainerRequest{PodSandboxId: run.SandboxID, Config: config, SandboxConfig: sandbox}, nil
}

// prepareFiles makes what the container's log and mounts need.
func (r *Runtime) prepareFiles(run *pod.ContainerRun) error {
	dir := filepath.Join(r.config.Layout.LogDir(run.Pod), run.Container.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil { // log collectors must read it
		return fmt.Errorf("log directory: %w", err)
	}
	if managesHosts(run) {
		if err := r.writeHosts(run); err != nil {
			return err
		}
	}
	return r.writeMessageFile(run)
}

// startFault makes a fault of the runtime's refusal.
func startFault(run *pod.ContainerRun, reason string, err error) error {
	if interrupted(err) {
		return fmt.Errorf("start container %q: %w", run.Container.Name, err)
	}
	return &status.Fault{Reason: reason, Err: err}
}

// StopContainer asks a container to end and kills it after grace, which is at
// least 2 s and counts in whole seconds. One that does not exist or run is
// stopped.
func (r *Runtime) StopContainer(ctx context.Context, id string, grace time.Duration) error {
	timeout := max(grace, minStopTimeout)
	seconds := int64((timeout + time.Second - 1) / time.Second)
	_, err := r.cri.StopContainer(ctx, &runtimeapi.StopContainerRequest{ContainerId: id, Timeout: seconds})
	if err != nil && !isNotFound(err) {
		return fmt.Errorf("stop container %s: %w", id, err)
	}
	return nil
}

// RemoveContainer removes a container of the pod uid and what it left: first
// its logs, their link and its termination message, then the container, so
// that a failure leaves something to try again with. A container that does
// not exist is removed; one that is not ours is refused. The error is a
// status.ErrContainerStuck where the runtime shows the container as ended and keeps it.
func (r *Runtime) RemoveContainer(ctx context.Context, uid types.UID, id string) error {
	answer, err := r.cri.ContainerStatus(ctx, &runtimeapi.ContainerStatusRequest{ContainerId: id})
	if isNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove container %s: %w", id, err)
	}
	c := answer.GetStatus()
	if !r.owns(c.GetAnnotations(), c.GetLabels()) || c.GetLabels()[pod.LabelPodUID] != string(uid) {
		return fmt.Errorf("remove container %s: refused, it is not one of this installation's pod %s", id, uid)
	}
	if err := r.removeLogs(c); err != nil {
		return fmt.Errorf("remove container %s: %w", id, err)
	}
	if err := r.removeMessageFile(uid, c); err != nil {
		return fmt.Errorf("remove container %s: %w", id, err)
	}
	_, err = r.cri.RemoveContainer(ctx, &runtimeapi.RemoveContainerRequest{ContainerId: id})
	switch {
	case err == nil || isNotFound(err):
		return nil
	case isFailedPrecondition(err) && c.GetState() == runtimeapi.ContainerState_CONTAINER_EXITED:
		return fmt.Errorf("remove container %s: %w: %w", id, status.ErrContainerStuck, err)
	}
	return fmt.Errorf("remove container %s: %w", id, err)
}

// extendContext returns a context that ends so long after ctx, or when it is released.
func extendContext(ctx context.Context, by time.Duration) (longer context.Context, release context.CancelFunc) {
	longer, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(by, end) })
	return longer, func() {
		stop()
		end()
	}
}

// propagation is what the runtime calls the modes of mounts.
var propagation = map[v1.MountPropagationMode]runtimeapi.MountPropagation{
	v1.MountPropagationHostToContainer: runtimeapi.MountPropagation_PROPAGATION_HOST_TO_CONTAINER,
	v1.MountPropagationBidirectional:   runtimeapi.MountPropagation_PROPAGATION_BIDIRECTIONAL,
}

// ExpandPath replaces $(NAME) in a path by the variables of the container. One that is missing or empty is an error.
func (r *Runtime) ExpandPath(ctx context.Context, run *pod.ContainerRun, path string) (string, error) {
	return r.configs.ExpandPath(ctx, run, path)
}

// mounts are the volumes, then /etc/hosts, then the termination message file. The files they name are written by
// prepareFiles.
func (r *Runtime) mounts(run *pod.ContainerRun) []*runtimeapi.Mount {
	var mounts []*runtimeapi.Mount
	for _, m := range run.Mounts {
		mounts = append(mounts, &runtimeapi.Mount{
			HostPath: m.HostPath, ContainerPath: m.ContainerPath, Readonly: m.ReadOnly, RecursiveReadOnly: m.RecursiveReadOnly, Propagation: propagation[m.Propagation],
		})
	}
	if managesHosts(run) {
		mounts = append(mounts, &runtimeapi.Mount{HostPath: r.config.Layout.HostsFile(run.Pod.UID), ContainerPath: etcHosts})
	}
	if path := run.Container.TerminationMessagePath; path != "" {
		mounts = append(mounts, &runtimeapi.Mount{HostPath: r.messageFile(run), ContainerPath: path})
	}
	return mounts
}
