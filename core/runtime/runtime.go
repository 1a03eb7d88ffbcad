package runtime

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/internal/filesystem"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/runtime/criconfig"
	"github.com/wardlet/wardlet/core/status"
)

// Config holds the settings and dependencies of a Runtime.
type Config struct {
	// Config is the configuration for making sandboxes and containers.
	criconfig.Config
	Client *Client
	// Health implements NetworkReady.
	Health *Health
	// AdoptForeign makes the Runtime treat objects of a kubelet without a mark as its own.
	AdoptForeign bool
	// HostsFile is the node's /etc/hosts, for pods on the node's network.
	HostsFile string
	// CgroupDriver is the agent's cgroup driver, "cgroupfs" or "systemd". If it is empty, it is not
	// compared with the runtime's.
	CgroupDriver string
	// Handler returns the runtime's handler name for a pod with a runtimeClassName. It may wait for
	// a short time.
	Handler func(ctx context.Context, p *v1.Pod) (string, error)
	Events  status.Recorder
	Logger  *slog.Logger
	Now     func() time.Time
}

// Runtime starts, stops and observes pods.
type Runtime struct {
	config  Config
	configs *criconfig.Builder
	cri     runtimeapi.RuntimeServiceClient
	images  runtimeapi.ImageServiceClient
	limiter *startLimiter
	notices noticeLog
	// files reads the state of the file system of images.
	files filesystem.Reader
}

// New makes a Runtime.
func New(config Config) *Runtime {
	r := &Runtime{
		config:  config,
		cri:     config.Client.runtime,
		images:  config.Client.images,
		limiter: newStartLimiter(),
	}
	r.configs = criconfig.New(config.Config, r.imageUser)
	return r
}

// NetworkReady returns why pods cannot have a network of their own, nil if they can.
func (r *Runtime) NetworkReady() error { return r.config.Health.NetworkReady() }

// owns reports whether a sandbox or container belongs to this installation: it has the
// installation's mark or, if foreign pods are adopted, a kubelet made it.
func (r *Runtime) owns(annotations, labels map[string]string) bool {
	if mark, marked := annotations[pod.AnnotationInstallation]; marked {
		return mark == r.config.Installation
	}
	return r.config.AdoptForeign && madeByKubelet(labels)
}

// madeByKubelet reports whether the labels are those of a kubelet.
func madeByKubelet(labels map[string]string) bool { return labels[pod.LabelPodUID] != "" }

// Idle reports whether, as far as the runtime knows, nothing of a pod runs and nothing of it is
// foreign. Then a process that is still in the pod's cgroup was started by this installation and is
// no longer known to the runtime.
func (r *Runtime) Idle(ctx context.Context, uid types.UID) (bool, error) {
	selector := map[string]string{pod.LabelPodUID: string(uid)}
	sandboxes, err := r.listSandboxes(ctx, selector)
	if err != nil {
		return false, err
	}
	for _, s := range sandboxes {
		if !r.owns(s.GetAnnotations(), s.GetLabels()) || s.GetState() == runtimeapi.PodSandboxState_SANDBOX_READY {
			return false, nil
		}
	}
	containers, err := r.cri.ListContainers(ctx, &runtimeapi.ListContainersRequest{Filter: &runtimeapi.ContainerFilter{LabelSelector: selector}})
	if err != nil {
		return false, fmt.Errorf("list containers: %w", err)
	}
	for _, c := range containers.GetContainers() {
		if !r.owns(c.GetAnnotations(), c.GetLabels()) || c.GetState() != runtimeapi.ContainerState_CONTAINER_EXITED {
			return false, nil
		}
	}
	return true, nil
}
