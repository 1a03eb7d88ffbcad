package runtime

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/runtime/criconfig"
	"github.com/wardlet/wardlet/core/status"
)

// ListPods returns all pods of this installation, running or not, newest first, with the details of
// a listing.
func (r *Runtime) ListPods(ctx context.Context) ([]status.ObservedPod, error) {
	pods, err := r.list(ctx, nil)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(pods, func(a, b status.ObservedPod) int {
		return cmp.Or(newestCreation(&b).Compare(newestCreation(&a)), cmp.Compare(a.UID, b.UID))
	})
	return pods, nil
}

// InspectPod returns one pod with all details. Stopped sandboxes are not inspected, because the
// listing contains all that is needed of them. For a pod that the runtime does not have, it returns
// only the UID. Objects that disappear during the call are left out.
func (r *Runtime) InspectPod(ctx context.Context, uid types.UID) (status.ObservedPod, error) {
	pods, err := r.list(ctx, map[string]string{pod.LabelPodUID: string(uid)})
	if err != nil {
		return status.ObservedPod{}, err
	}
	p := status.ObservedPod{UID: uid}
	for i := range pods {
		if pods[i].UID == uid {
			p = pods[i]
		}
	}

	// Make all calls at once: a worker waits for the answers, and a pod may have many containers.
	errs := make([]error, len(p.Sandboxes)+len(p.Containers))
	var calls sync.WaitGroup
	for i := range p.Sandboxes {
		if s := &p.Sandboxes[i]; s.Ready {
			calls.Go(func() { errs[i] = r.inspectSandbox(ctx, s) })
		}
	}
	for i := range p.Containers {
		c := &p.Containers[i]
		calls.Go(func() { errs[len(p.Sandboxes)+i] = r.inspectContainer(ctx, c) })
	}
	calls.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil && !isNotFound(err) }); i >= 0 {
		return status.ObservedPod{}, errs[i]
	}
	gone := func(i int) bool { return errs[i] != nil }
	p.Containers = without(p.Containers, func(i int) bool { return gone(len(p.Sandboxes) + i) })
	p.Sandboxes = without(p.Sandboxes, gone)

	if ready := slices.IndexFunc(p.Sandboxes, func(s status.ObservedSandbox) bool { return s.Ready }); ready >= 0 {
		p.IPs = p.Sandboxes[ready].IPs
	}
	return p, nil
}

// without returns a list without the items at the indexes for which gone returns true.
func without[T any](list []T, gone func(i int) bool) []T {
	left := list[:0]
	for i := range list {
		if !gone(i) {
			left = append(left, list[i])
		}
	}
	return left
}

func (r *Runtime) inspectSandbox(ctx context.Context, s *status.ObservedSandbox) error {
	answer, err := r.cri.PodSandboxStatus(ctx, &runtimeapi.PodSandboxStatusRequest{PodSandboxId: s.ID})
	if err != nil {
		return fmt.Errorf("inspect sandbox %s: %w", s.ID, err)
	}
	*s = inspectedSandbox(answer.GetStatus())
	return nil
}

func (r *Runtime) inspectContainer(ctx context.Context, c *status.ObservedContainer) error {
	answer, err := r.cri.ContainerStatus(ctx, &runtimeapi.ContainerStatusRequest{ContainerId: c.ID})
	if err != nil {
		return fmt.Errorf("inspect container %s: %w", c.ID, err)
	}
	*c = inspectedContainer(answer.GetStatus(), c.SandboxID)
	return nil
}

// list returns the sandboxes and containers of this installation, grouped by pod UID.
func (r *Runtime) list(ctx context.Context, selector map[string]string) ([]status.ObservedPod, error) {
	sandboxes, err := r.listSandboxes(ctx, selector)
	if err != nil {
		return nil, err
	}
	containers, err := r.cri.ListContainers(ctx, &runtimeapi.ListContainersRequest{Filter: &runtimeapi.ContainerFilter{LabelSelector: selector}})
	if err != nil {
		return nil, fmt.Errorf("list containers: %w", err)
	}

	byUID := map[types.UID]*status.ObservedPod{}
	of := func(uid, name, namespace string) *status.ObservedPod {
		p := byUID[types.UID(uid)]
		if p == nil {
			p = &status.ObservedPod{UID: types.UID(uid), Name: name, Namespace: namespace}
			byUID[p.UID] = p
		}
		return p
	}
	for _, s := range sandboxes {
		if !r.owns(s.GetAnnotations(), s.GetLabels()) {
			continue
		}
		m := s.GetMetadata()
		p := of(m.GetUid(), m.GetName(), m.GetNamespace())
		p.Sandboxes = append(p.Sandboxes, listedSandbox(s))
	}
	for _, c := range containers.GetContainers() {
		if !r.owns(c.GetAnnotations(), c.GetLabels()) {
			continue
		}
		labels := c.GetLabels()
		p := of(labels[pod.LabelPodUID], labels[pod.LabelPodName], labels[pod.LabelPodNamespace])
		p.Containers = append(p.Containers, listedContainer(c))
	}

	pods := make([]status.ObservedPod, 0, len(byUID))
	for _, p := range byUID {
		slices.SortFunc(p.Sandboxes, func(a, b status.ObservedSandbox) int {
			return cmp.Or(cmp.Compare(b.Attempt, a.Attempt), b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
		})
		slices.SortFunc(p.Containers, func(a, b status.ObservedContainer) int {
			return cmp.Or(cmp.Compare(b.Attempt, a.Attempt), b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
		})
		if len(p.Sandboxes) > 0 { // the pod may have had another name before
			labels := p.Sandboxes[0].Labels
			p.Name = cmp.Or(labels[pod.LabelPodName], p.Name)
			p.Namespace = cmp.Or(labels[pod.LabelPodNamespace], p.Namespace)
		}
		pods = append(pods, *p)
	}
	return pods, nil
}

func (r *Runtime) listSandboxes(ctx context.Context, selector map[string]string) ([]*runtimeapi.PodSandbox, error) {
	answer, err := r.cri.ListPodSandbox(ctx, &runtimeapi.ListPodSandboxRequest{Filter: &runtimeapi.PodSandboxFilter{LabelSelector: selector}})
	if err != nil {
		return nil, fmt.Errorf("list sandboxes: %w", err)
	}
	return answer.GetItems(), nil
}

// newestCreation returns when the newest part of a pod was made.
func newestCreation(p *status.ObservedPod) time.Time {
	var at time.Time
	for i := range p.Sandboxes {
		at = later(at, p.Sandboxes[i].CreatedAt)
	}
	for i := range p.Containers {
		at = later(at, p.Containers[i].CreatedAt)
	}
	return at
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func listedSandbox(s *runtimeapi.PodSandbox) status.ObservedSandbox {
	return status.ObservedSandbox{
		ID:          s.GetId(),
		Attempt:     s.GetMetadata().GetAttempt(),
		Ready:       s.GetState() == runtimeapi.PodSandboxState_SANDBOX_READY,
		CreatedAt:   timeOf(s.GetCreatedAt()),
		Labels:      s.GetLabels(),
		Annotations: s.GetAnnotations(),
	}
}

func inspectedSandbox(s *runtimeapi.PodSandboxStatus) status.ObservedSandbox {
	observed := status.ObservedSandbox{
		ID:          s.GetId(),
		Attempt:     s.GetMetadata().GetAttempt(),
		Ready:       s.GetState() == runtimeapi.PodSandboxState_SANDBOX_READY,
		CreatedAt:   timeOf(s.GetCreatedAt()),
		HostNetwork: s.GetLinux().GetNamespaces().GetOptions().GetNetwork() == runtimeapi.NamespaceMode_NODE,
		Labels:      s.GetLabels(),
		Annotations: s.GetAnnotations(),
	}
	if ip := s.GetNetwork().GetIp(); ip != "" {
		observed.IPs = append(observed.IPs, ip)
	}
	for _, ip := range s.GetNetwork().GetAdditionalIps() {
		observed.IPs = append(observed.IPs, ip.GetIp())
	}
	return observed
}

func listedContainer(c *runtimeapi.Container) status.ObservedContainer {
	return status.ObservedContainer{
		ID:          c.GetId(),
		SandboxID:   c.GetPodSandboxId(),
		Name:        c.GetMetadata().GetName(),
		Attempt:     c.GetMetadata().GetAttempt(),
		State:       stateOf(c.GetState()),
		CreatedAt:   timeOf(c.GetCreatedAt()),
		Image:       imageName(c.GetImage()),
		ImageRef:    c.GetImageRef(),
		Hash:        criconfig.DefinitionHash(c.GetAnnotations()),
		Labels:      c.GetLabels(),
		Annotations: c.GetAnnotations(),
	}
}

// inspectedContainer converts the status of a container. sandboxID is the sandbox's ID from the
// listing, because the status does not contain it.
func inspectedContainer(c *runtimeapi.ContainerStatus, sandboxID string) status.ObservedContainer {
	observed := status.ObservedContainer{
		ID:          c.GetId(),
		SandboxID:   sandboxID,
		Name:        c.GetMetadata().GetName(),
		Attempt:     c.GetMetadata().GetAttempt(),
		State:       stateOf(c.GetState()),
		CreatedAt:   timeOf(c.GetCreatedAt()),
		StartedAt:   timeOf(c.GetStartedAt()),
		FinishedAt:  timeOf(c.GetFinishedAt()),
		ExitCode:    c.GetExitCode(),
		Reason:      c.GetReason(),
		Message:     c.GetMessage(),
		Image:       imageName(c.GetImage()),
		ImageRef:    c.GetImageRef(),
		Hash:        criconfig.DefinitionHash(c.GetAnnotations()),
		LogPath:     c.GetLogPath(),
		StopSignal:  criconfig.StopSignal(c.GetStopSignal()),
		Labels:      c.GetLabels(),
		Annotations: c.GetAnnotations(),
	}
	if u := c.GetUser().GetLinux(); u != nil {
		observed.User = &v1.LinuxContainerUser{UID: u.GetUid(), GID: u.GetGid(), SupplementalGroups: u.GetSupplementalGroups()}
	}
	if startInterrupted(c) {
		observed.State = status.StateCreated
	}
	if observed.State == status.StateExited {
		if left := terminationMessage(c); left != "" {
			observed.Message = strings.TrimPrefix(observed.Message+": "+left, ": ")
		}
	}
	return observed
}

// startInterrupted reports whether the start of a container was interrupted because its caller
// disappeared, for example an agent that was killed. containerd shows such a container as exited
// with code 128, as if its program could not be started.
func startInterrupted(c *runtimeapi.ContainerStatus) bool {
	return c.GetState() == runtimeapi.ContainerState_CONTAINER_EXITED && c.GetStartedAt() == 0 &&
		c.GetReason() == "StartError" && strings.Contains(c.GetMessage(), context.Canceled.Error())
}

func stateOf(s runtimeapi.ContainerState) status.ContainerState {
	switch s {
	case runtimeapi.ContainerState_CONTAINER_CREATED:
		return status.StateCreated
	case runtimeapi.ContainerState_CONTAINER_RUNNING:
		return status.StateRunning
	case runtimeapi.ContainerState_CONTAINER_EXITED:
		return status.StateExited
	default:
		return status.StateUnknown
	}
}

// imageName returns the runtime's name for an image or, if that is only an ID, the name that was
// requested.
func imageName(spec *runtimeapi.ImageSpec) string {
	if name := spec.GetImage(); name != "" && !strings.HasPrefix(name, "sha256:") || spec.GetUserSpecifiedImage() == "" {
		return name
	}
	return spec.GetUserSpecifiedImage()
}

// timeOf converts a time of the CRI in nanoseconds, 0 for never.
func timeOf(nanoseconds int64) time.Time {
	if nanoseconds == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanoseconds)
}
