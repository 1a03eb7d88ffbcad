package runtime

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/runtime/criconfig"
	"github.com/wardlet/wardlet/core/status"
)

// Config is what a Runtime stands on.
type Config struct {
	// Config is what sandboxes and containers are made with.
	criconfig.Config
	Client *Client
	// Health answers NetworkReady.
	Health *Health
	// AdoptForeign takes what a kubelet made, and bears no mark, for ours too.
	AdoptForeign bool
	// HostsFile is the node's /etc/hosts, for pods on the node's network.
	HostsFile string
	// CgroupDriver is the agent's, "cgroupfs" or "systemd". Empty: it is not
	// compared with the runtime's.
	CgroupDriver string
	// Handler returns the runtime's name for the runtimeClassName of a pod that has one. It may wait for a short time.
	Handler func(ctx context.Context, p *v1.Pod) (string, error)
	Events  status.Recorder
	Logger  *slog.Logger
	Now     func() time.Time
}

// Runtime makes, ends and observes pods.
type Runtime struct {
	config  Config
	configs *criconfig.Builder
	cri     runtimeapi.RuntimeServiceClient
	images  runtimeapi.ImageServiceClient
	limiter *startLimiter
	notices noticeLog
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

// NetworkReady says why pods cannot have a network of their own; nil if they
// can.
func (r *Runtime) NetworkReady() error { return r.config.Health.NetworkReady() }

// owns reports whether a sandbox or container is this installation's: by its mark or,
// where foreign pods are adopted, because a kubelet made it.
func (r *Runtime) owns(annotations, labels map[string]string) bool {
	if mark, marked := annotations[pod.AnnotationInstallation]; marked {
		return mark == r.config.Installation
	}
	return r.config.AdoptForeign && madeByKubelet(labels)
}

// madeByKubelet reports whether the labels are those of a kubelet.
func madeByKubelet(labels map[string]string) bool { return labels[pod.LabelPodUID] != "" }

// Idle reports whether nothing of a pod runs, for all that the runtime knows, and
// nothing of it is foreign: what lives in its cgroup nevertheless has been
// forgotten by the runtime, and was ours.
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
