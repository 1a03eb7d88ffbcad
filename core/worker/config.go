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

// Config is what a Pool works with. All fields but HostIPs, RecursiveReadOnly, OnRemoved, OnFinished, Outcomes, Terminations,
// ActiveFor and Observer are needed.
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
	// HostIPs returns the node's addresses as they are now, and must not block; nil for a node without. They and
	// RuntimeName go into statuses; see status.Input.
	HostIPs     func() []string
	RuntimeName string
	// RecursiveReadOnly reports whether the runtime of a pod can make mounts read-only recursively; nil where no pod
	// wants it.
	RecursiveReadOnly func(p *v1.Pod) bool
	// Layout says where pod directories and logs lie.
	Layout pod.Layout
	// Hash is the definition hash of a container, as the runtime puts it on
	// the containers it makes.
	Hash func(*v1.Container) string
	// Restore, if not nil, returns what the annotations of a container of a name say of its definition, for containers
	// that no spec names any more. With an error it returns what could be read.
	Restore func(name string, annotations map[string]string) (*v1.Container, error)
	// SyncFrequency is how often a pod that is as it should be is looked at.
	SyncFrequency time.Duration
	// OnRemoved, if not nil, is called when the worker of a pod is removed: what the pod left
	// behind may be removed too. It is called with the pool locked and must not block.
	OnRemoved func(uid types.UID)
	// OnFinished, if not nil, is called when nothing of a pod is left to stop, unmount or remove. It is called with
	// the pool locked and must not block.
	OnFinished func(uid types.UID)
	// Outcomes, if not nil, keep what must survive a restart of the agent.
	Outcomes Outcomes
	// Terminations, if not nil, keep which pods are being terminated.
	Terminations Terminations
	// ActiveFor, if not nil, is for how long a pod has been active of which
	// Outcomes has a start time: better than the wall clock can say. It does not
	// block.
	ActiveFor func(p *v1.Pod) time.Duration
	// Hooks carry out lifecycle hooks; nil only where no pod has any.
	Hooks Hooks
	// Probes, if not nil, find out whether containers have started, live and are ready.
	Probes Probes
	// Observer, if not nil, counts the iterations of workers.
	Observer Observer
	Log      *slog.Logger
	// Now is the wall clock; its times carry a monotonic reading.
	Now func() time.Time
	// Jitter stretches a delay by a random share, 1 to 1.5 times.
	Jitter func(time.Duration) time.Duration
}

// Runtime runs sandboxes and containers. Workers of different pods call it at
// once; what is already gone is no error.
type Runtime interface {
	// RunSandbox makes and starts a sandbox and returns its ID.
	RunSandbox(ctx context.Context, run pod.SandboxRun) (string, error)
	// StartContainer creates and starts a container and returns its ID. Errors
	// are *status.Fault where a waiting reason fits.
	StartContainer(ctx context.Context, run pod.ContainerRun) (string, error)
	// ExpandPath replaces $(NAME) in a path by the variables of the container.
	ExpandPath(ctx context.Context, run *pod.ContainerRun, path string) (string, error)
	// StopContainer returns when the container has stopped; it is killed
	// after grace.
	StopContainer(ctx context.Context, id string, grace time.Duration) error
	// RemoveContainer removes a dead container and its logs.
	RemoveContainer(ctx context.Context, uid types.UID, id string) error
	StopSandbox(ctx context.Context, id string) error
	// NetworkReady says why pods cannot have a network now. It does not block.
	NetworkReady() error
}

// Probes find out whether containers have started, live and are ready; see package probe. The methods do not block.
type Probes interface {
	status.Probes
	// Add begins the probes of a pod that are not under way.
	Add(p *v1.Pod)
	// Nudge says that the containers of a pod may not be what they were.
	Nudge(uid types.UID)
	// StopLiveness ends the probes that would have a container restarted, Remove all of a pod.
	StopLiveness(uid types.UID)
	Remove(uid types.UID)
	// Failed says which probe wants a container restarted, by its ID: status.FailedStartup, status.FailedLiveness, or empty.
	Failed(id string) string
	// Changes counts the changes of results.
	Changes() uint64
}

// noProbes are those of a pool without.
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
	// Setup makes all volumes of p ready; those that are stay as they are. An error with a method Stale that returns true
	// keeps nothing from running: all volumes are there, and not all as new as they should be.
	Setup(ctx context.Context, p *v1.Pod) error
	// Mounts returns the mounts of c, once Setup has succeeded. expand replaces $(NAME) in a path by variables of c.
	Mounts(p *v1.Pod, c *v1.Container, expand func(path string) (string, error)) ([]pod.Mount, error)
	// Teardown unmounts and removes what Setup made.
	Teardown(ctx context.Context, uid types.UID) error
}

// Cgroups makes and removes the cgroups of pods.
type Cgroups interface {
	// Ensure makes the pod's cgroup and returns its name as the runtime wants it.
	Ensure(p *v1.Pod) (parent string, err error)
	// Remove removes the cgroup of a pod whose containers have stopped. A process that is
	// left in it may be ended; if it stays, Remove fails.
	Remove(ctx context.Context, uid types.UID) error
}

// Cache holds what the runtime last showed.
type Cache interface {
	// Get returns what is known now, an empty pod if that is nothing.
	Get(uid types.UID) (status.ObservedPod, error)
	// GetNewerThan waits for an observation made after t. One that is there
	// already is given even when ctx has ended.
	GetNewerThan(ctx context.Context, uid types.UID, t time.Time) (status.ObservedPod, error)
	// Pods is the last full list and when it was begun.
	Pods() ([]status.ObservedPod, time.Time)
}

// Inspector looks at one pod in the runtime, out of turn, and puts what it
// sees into the Cache.
type Inspector interface {
	// Refresh does not block.
	Refresh(uid types.UID)
}
