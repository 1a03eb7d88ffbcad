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
	// minStopTimeout is the minimum time between the stop signal and the kill of a container.
	minStopTimeout = 2 * time.Second
	// startGrace is how long a start may continue after it was cancelled. If a start is
	// interrupted, the runtime may keep the container for ever: see status.ErrContainerStuck.
	startGrace = 5 * time.Second
)

// StartContainer creates and starts a container. The ID is set whenever the container exists, even
// if its start failed. Errors are *status.Fault with reason CreateContainerConfigError,
// CreateContainerError or RunContainerError, except if the runtime is unavailable or ctx is done. A
// start that is under way when ctx is done has 5 s to finish. If many starts are under way, it
// waits for a slot.
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

// prepareFiles makes the files that the container's log and mounts need.
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

// startFault converts an error of the runtime to a fault, unless it is unrelated to the request.
func startFault(run *pod.ContainerRun, reason string, err error) error {
	if interrupted(err) {
		return fmt.Errorf("start container %q: %w", run.Container.Name, err)
	}
	return &status.Fault{Reason: reason, Err: err}
}

// StopContainer sends a container its stop signal and kills it after grace, which is rounded up to
// whole seconds and at least 2 s. A container that does not exist or is not running counts as
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

// RemoveContainer removes a container of the pod uid and what it left. It removes the logs, their
// link and the termination message first, and the container last, so a failed removal can be tried
// again. A container that does not exist counts as removed; one that does not belong to this
// installation is refused. The error is a status.ErrContainerStuck if the runtime shows the
// container as exited but keeps it.
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

// extendContext returns a context that is cancelled by after ctx is done, or when it is released.
func extendContext(ctx context.Context, by time.Duration) (longer context.Context, release context.CancelFunc) {
	longer, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(by, end) })
	return longer, func() {
		stop()
		end()
	}
}

// propagation maps mount propagation modes to those of the CRI.
var propagation = map[v1.MountPropagationMode]runtimeapi.MountPropagation{
	v1.MountPropagationHostToContainer: runtimeapi.MountPropagation_PROPAGATION_HOST_TO_CONTAINER,
	v1.MountPropagationBidirectional:   runtimeapi.MountPropagation_PROPAGATION_BIDIRECTIONAL,
}

// ExpandPath replaces $(NAME) in a path by the variables of the container. A missing or empty
// variable is an error.
func (r *Runtime) ExpandPath(ctx context.Context, run *pod.ContainerRun, path string) (string, error) {
	return r.configs.ExpandPath(ctx, run, path)
}

// mounts returns the mounts of the volumes, then /etc/hosts, then the termination message file.
// prepareFiles writes the files of the last two.
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
