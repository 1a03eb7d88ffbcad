package syncloop

import (
	"context"
	"log/slog"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pleg"
	"github.com/wardlet/wardlet/core/worker"
)

// Config holds the settings and dependencies of a Loop. All fields but Health, Admitter, Begun,
// MirrorsChanged, Outcomes, Probes and Observer are required.
type Config struct {
	// Updates is the mux's stream. The loop returns when it is closed.
	Updates <-chan api.Update
	// Sources are the names of the configured sources.
	Sources  []string
	Desired  Desired
	PLEG     PLEG
	Workers  Workers
	Statuses Statuses
	Events   Events
	// Health are the checks of the runtime and the PLEG. All must pass before the loop handles
	// anything. They are called before every step and must not block.
	Health []func() error
	// Admitter judges pods before they start. If it is nil, all pods are admitted.
	Admitter Admitter
	// Begun reports whether something of a restored pod is on the node because an earlier agent has
	// started it. Such a pod is not judged again.
	Begun func(uid types.UID) bool
	// MirrorsChanged is called when a mirror pod has come, changed or gone; nil for nothing. It must not
	// block.
	MirrorsChanged func()
	// Outcomes keep how pods ended across restarts of the agent.
	Outcomes Outcomes
	// Probes report which pods have a probe result that their workers must act on; nil for none.
	Probes Probes
	// Observer records the decisions of the loop.
	Observer Observer
	Log      *slog.Logger
	// Now is the wall clock; its times carry a monotonic reading.
	Now func() time.Time
}

// Desired is the mux's view of what should run.
type Desired interface {
	// Wanted reports whether a source wants the pod, even if the loop has not received it yet.
	Wanted(uid types.UID) bool
	// WantedBy is Wanted for a pod that has no worker and was made for this source, empty for any
	// source: a document with its UID may be held in another source.
	WantedBy(uid types.UID, source string) bool
	// Seen reports whether the first snapshot of the source has arrived. A source that is no longer
	// configured counts as seen.
	Seen(source string) bool
	// Pods returns the wanted pods, including those that the loop has not received yet.
	Pods() []mux.Desired
}

// PLEG reports what happens in the runtime.
type PLEG interface {
	Events() <-chan pleg.Event
	// Relist lists all pods of the runtime again and waits for the result.
	Relist(ctx context.Context) error
}

// Workers bring pods to their desired state; see worker.Pool.
type Workers interface {
	Submit(r worker.Request)
	// Recreate makes a pod that is being terminated start again after that, and reports
	// whether it is being terminated.
	Recreate(uid types.UID) bool
	Due() []types.UID
	SyncKnownPods(wanted func(types.UID) bool) map[types.UID]worker.State
	Orphans() []worker.Orphan
	KillOrphan(s *worker.Orphan)
	Has(uid types.UID) bool
	// InRuntime reports whether the runtime has, or may have, something of the pod.
	InRuntime(uid types.UID) bool
	// RunsEarlierPod reports whether the pod that the runtime runs under the UID is another one
	// than the one first seen at seen, and an earlier agent was terminating it.
	RunsEarlierPod(uid types.UID, seen time.Time) bool
	// ManifestChanged reports whether the sandbox of a static pod was made for another version
	// of its manifest, with other content.
	ManifestChanged(p *v1.Pod, from *api.Origin) bool
	// CancelStart removes a pod that has not started, and reports whether it removed the pod.
	CancelStart(uid types.UID) bool
	TerminatingPods() []worker.TerminatingPod
	KnownTerminated(uid types.UID) bool
	TerminationRequested(uid types.UID) bool
	ContentRemovable(uid types.UID) bool
}

// Probes report results that workers must act on.
type Probes interface {
	// Due returns a channel that has a value when TakeDue has pods.
	Due() <-chan struct{}
	TakeDue() []types.UID
}

// Statuses hold the newest status of every pod.
type Statuses interface {
	Get(uid types.UID) (v1.PodStatus, bool)
	Set(p *v1.Pod, st v1.PodStatus) (bool, error)
	// SetPolicyWarning sets a condition of the pod, until it is called again; an empty message
	// removes it.
	SetPolicyWarning(uid types.UID, reason, message string, since time.Time)
	// SetMutated is SetPolicyWarning for the changes that policies made to the pod.
	SetMutated(uid types.UID, reason, message string, since time.Time)
	// SetEditIgnored is SetPolicyWarning for an edit of a pod that has ended.
	SetEditIgnored(uid types.UID, reason, message string, since time.Time)
	// DeleteEnded forgets the pod if its phase is a terminal one.
	DeleteEnded(uid types.UID)
	// Delete forgets the pod, unless it waits for a verdict.
	Delete(uid types.UID)
}

// Outcomes keep how pods ended. They do not block.
type Outcomes interface {
	// Track records that the loop has a pod, or a newer version of it. The pod was first seen at
	// since; an outcome of another pod with the same UID is ignored. restored is true for a pod
	// from the checkpoint.
	Track(p *v1.Pod, since time.Time, restored bool)
	// Ended reports whether the pod has ended.
	Ended(p *v1.Pod) bool
	// Rejected records that the pod was rejected for good. kept is called, from any goroutine, when
	// the record is durable or cannot be made durable now.
	Rejected(p *v1.Pod, st *v1.PodStatus, kept func())
	// Forget records that a pod without a worker is gone.
	Forget(uid types.UID)
}

// Observer counts the decisions of the loop. The loop calls it, so it must not block.
type Observer interface {
	// Rejected is called for each rejection that is reported in an event, with its reason, or
	// "Other" if a plugin chose a reason of its own.
	Rejected(reason string)
}

// Events records events about pods.
type Events interface {
	Event(p *v1.Pod, eventType, reason, message string)
}

// Admitter judges whether a pod may start on this node; see admission.Chain.
type Admitter interface {
	// Admit is called by the loop for one pod at a time. The loop waits for it, so it must not
	// block.
	Admit(a *admission.Attributes) admission.Result
}
