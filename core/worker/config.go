package worker

import (
	"context"
	"log/slog"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// Config holds the settings and dependencies of a Pool. All fields are required but HostIPs,
// RecursiveReadOnly, Restore, OnRemoved, OnFinished, Outcomes, Terminations, ActiveFor, Hooks,
// Probes and Observer.
type Config struct {
	Runtime   Runtime
	Images    Images
	Volumes   Volumes
	Cgroups   Cgroups
	Cache     Cache
	Inspector Inspector
	Statuses  *status.Store
	Reasons   *status.ReasonCache
	Events    status.Recorder
	// HostIPs returns the node's current addresses and must not block; nil for a node without
	// addresses. The addresses and RuntimeName go into statuses; see status.Input.
	HostIPs     func() []string
	RuntimeName string
	// RecursiveReadOnly reports whether the runtime of a pod can make mounts read-only recursively.
	// It may be nil if no pod asks for such mounts.
	RecursiveReadOnly func(p *v1.Pod) bool
	// Layout returns the paths of pod directories and logs.
	Layout pod.Layout
	// Hash returns the definition hash of a container, as the runtime sets it on the containers
	// that it creates.
	Hash func(*v1.Container) string
	// Restore, if not nil, returns the definition of a container from its annotations, for
	// containers that are no longer in any spec. With an error it returns the part that could be
	// read.
	Restore func(name string, annotations map[string]string) (*v1.Container, error)
	// SyncFrequency is how often a pod in the desired state is synced.
	SyncFrequency time.Duration
	// OnRemoved, if not nil, is called when the worker of a pod is removed: then what the pod left
	// behind may be removed too. It is called with the pool locked and must not block.
	OnRemoved func(uid types.UID)
	// OnFinished, if not nil, is called when nothing of a pod is left to stop, unmount or remove.
	// It is called with the pool locked and must not block.
	OnFinished func(uid types.UID)
	// Outcomes, if not nil, keep what must survive a restart of the agent.
	Outcomes Outcomes
	// Terminations, if not nil, keep which pods are being terminated.
	Terminations Terminations
	// ActiveFor, if not nil, returns for how long a pod with a start time in Outcomes has been
	// active. It is more exact than the wall clock. It does not block.
	ActiveFor func(p *v1.Pod) time.Duration
	// Hooks run lifecycle hooks. It may be nil only if no pod has any.
	Hooks Hooks
	// Probes, if not nil, determine whether containers have started, are live and are ready.
	Probes Probes
	// Observer, if not nil, records the iterations of workers.
	Observer Observer
	Log      *slog.Logger
	// Now is the wall clock; its times carry a monotonic reading.
	Now func() time.Time
	// Jitter stretches a delay by a random share, 1 to 1.5 times.
	Jitter func(time.Duration) time.Duration
}

// Runtime runs sandboxes and containers. Workers of different pods call it concurrently. To stop or
// remove what is already gone is no error.
type Runtime interface {
	// RunSandbox makes and starts a sandbox and returns its ID.
	RunSandbox(ctx context.Context, run pod.SandboxRun) (string, error)
	// StartContainer creates and starts a container and returns its ID. An error is a *status.Fault
	// if a waiting reason fits it.
	StartContainer(ctx context.Context, run pod.ContainerRun) (string, error)
	// ExpandPath replaces $(NAME) in a path by the variables of the container.
	ExpandPath(ctx context.Context, run *pod.ContainerRun, path string) (string, error)
	// StopContainer returns when the container has stopped. The container is killed after grace.
	StopContainer(ctx context.Context, id string, grace time.Duration) error
	// RemoveContainer removes a dead container and its logs.
	RemoveContainer(ctx context.Context, uid types.UID, id string) error
	StopSandbox(ctx context.Context, id string) error
	// NetworkReady returns an error if pods cannot have a network now. It does not block.
	NetworkReady() error
}

// Probes determine whether containers have started, are live and are ready; see package probe. The
// methods do not block.
type Probes interface {
	status.Probes
	// Add begins the probes of a pod that do not run yet.
	Add(p *v1.Pod)
	// Nudge reports that the containers of a pod may have changed.
	Nudge(uid types.UID)
	// StopLiveness stops the probes of a pod that can restart a container. Remove stops all probes
	// of a pod.
	StopLiveness(uid types.UID)
	Remove(uid types.UID)
	// Failed returns which probe requires a restart of the container with this ID:
	// status.FailedStartup, status.FailedLiveness, or empty for none.
	Failed(id string) string
	// Changes returns how often results have changed.
	Changes() uint64
}

// noProbes is the Probes of a pool without probes.
type noProbes struct{}

func (noProbes) Started(string) status.ProbeResult { return status.ProbeUnknown }
func (noProbes) Ready(string) status.ProbeResult   { return status.ProbeUnknown }
func (noProbes) Add(*v1.Pod)                       {}
func (noProbes) Nudge(types.UID)                   {}
func (noProbes) StopLiveness(types.UID)            {}
func (noProbes) Remove(types.UID)                  {}
func (noProbes) Failed(string) string              { return "" }
func (noProbes) Changes() uint64                   { return 0 }

// Images fetches images.
type Images interface {
	// Ensure makes the image of c present and returns the runtime's reference
	// to it. Errors are *status.Fault. It records its own events.
	Ensure(ctx context.Context, p *v1.Pod, c *v1.Container) (ref string, err error)
}

// Volumes mounts and unmounts the volumes of pods.
type Volumes interface {
	// Setup makes all volumes of p ready and does not change those that are ready already. If the
	// error has a method Stale that returns true, all volumes exist but some are not up to date,
	// and containers may start.
	Setup(ctx context.Context, p *v1.Pod) error
	// Mounts returns the mounts of c after Setup has succeeded. expand replaces $(NAME) in a path
	// by variables of c.
	Mounts(p *v1.Pod, c *v1.Container, expand func(path string) (string, error)) ([]pod.Mount, error)
	// Teardown unmounts and removes what Setup made.
	Teardown(ctx context.Context, uid types.UID) error
}

// Cgroups makes and removes the cgroups of pods.
type Cgroups interface {
	// Ensure makes the pod's cgroup and returns its name in the form that the runtime expects.
	Ensure(p *v1.Pod) (parent string, err error)
	// Remove removes the cgroup of a pod whose containers have stopped. It may kill a process that
	// is left in the cgroup, and fails if the process remains.
	Remove(ctx context.Context, uid types.UID) error
}

// Cache holds what the runtime last showed.
type Cache interface {
	// Get returns what is known now, an empty pod if nothing is known.
	Get(uid types.UID) (status.ObservedPod, error)
	// GetNewerThan waits for an observation made after t. It returns an existing one even if ctx is
	// done.
	GetNewerThan(ctx context.Context, uid types.UID, t time.Time) (status.ObservedPod, error)
	// Pods returns the last full list and when that listing began.
	Pods() ([]status.ObservedPod, time.Time)
}

// Inspector inspects one pod in the runtime outside the periodic list, and writes the result into
// the Cache.
type Inspector interface {
	// Refresh starts an inspection of the pod. It does not block.
	Refresh(uid types.UID)
}
