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

// Config is what a Loop works with. All fields but Health, Admitter, Begun,
// Outcomes and Observer are needed.
type Config struct {
	// Updates is the mux's stream. The loop ends when it is closed.
	Updates <-chan api.Update
	// Sources names the configured sources.
	Sources  []string
	Desired  Desired
	PLEG     PLEG
	Workers  Workers
	Statuses Statuses
	Events   Events
	// Health are checks that must all pass before anything is taken in: the
	// runtime's and the PLEG's. They are called before every step and must
	// not block.
	Health []func() error
	// Admitter judges pods before they start. Without one all are admitted.
	Admitter Admitter
	// Begun reports whether an earlier agent has begun with a pod that is restored:
	// whether something of it is on the node. Such a pod is not judged again.
	Begun func(uid types.UID) bool
	// Outcomes know over restarts of the agent how pods ended.
	Outcomes Outcomes
	// Probes tell which pods have a result of a probe that their workers have to act on; nil for none.
	Probes Probes
	// Observer records what the loop decides.
	Observer Observer
	Log      *slog.Logger
	// Now is the wall clock; its times carry a monotonic reading.
	Now func() time.Time
}

// Desired is the mux's view of what should run.
type Desired interface {
	// Wanted reports whether a source wants the pod, whether or not the loop
	// has heard of it.
	Wanted(uid types.UID) bool
	// WantedBy reports the same of a pod that no worker has and that was made for
	// this source, empty for any: its UID may wait in another one.
	WantedBy(uid types.UID, source string) bool
	// Seen reports whether the source has given its first snapshot. A source
	// that is not configured any more counts as seen.
	Seen(source string) bool
	// Pods are the pods that are wanted, whether or not the loop has heard of them.
	Pods() []mux.Desired
}

// PLEG tells what happens in the runtime.
type PLEG interface {
	Events() <-chan pleg.Event
	// Relist lists all pods of the runtime anew and waits for that.
	Relist(ctx context.Context) error
}

// Workers bring pods to where they should be; see worker.Pool.
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
	// RunsEarlierPod reports whether what the runtime has of the UID belongs to another pod
	// than the one first seen at seen, and an earlier agent was terminating it.
	RunsEarlierPod(uid types.UID, seen time.Time) bool
	// ManifestChanged reports whether the sandbox of a static pod was made for another version
	// of its manifest, with other content.
	ManifestChanged(p *v1.Pod, from *api.Origin) bool
	// CancelStart removes a pod that has not started, and reports whether it did.
	CancelStart(uid types.UID) bool
	TerminatingPods() []worker.TerminatingPod
	KnownTerminated(uid types.UID) bool
	TerminationRequested(uid types.UID) bool
	ContentRemovable(uid types.UID) bool
}

// Probes tell of results that workers have to act on.
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
	// SetMutated is SetPolicyWarning for what policies have changed of the pod.
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
	// Track says that the loop has a pod, or a newer version of it. It was first seen
	// at since, and what is kept of another pod that had its UID counts for nothing.
	// restored is true for one that the checkpoint had.
	Track(p *v1.Pod, since time.Time, restored bool)
	// Ended reports whether the pod has ended.
	Ended(p *v1.Pod) bool
	// Rejected keeps that the pod was rejected for good. kept is called, from any
	// goroutine, when that is durable, or cannot be made so now.
	Rejected(p *v1.Pod, st *v1.PodStatus, kept func())
	// Forget says that a pod which has no worker is gone.
	Forget(uid types.UID)
}

// Observer counts what the loop decides. It is called by the loop and must not
// block.
type Observer interface {
	// Rejected is called for each rejection that an event tells of, with its reason,
	// or "Other" where a plugin gave one of its own.
	Rejected(reason string)
}

// Events takes events about pods.
type Events interface {
	Event(p *v1.Pod, eventType, reason, message string)
}

// Admitter judges whether a pod may start on this node; see admission.Chain.
type Admitter interface {
	// Admit is called by the loop, one pod at a time, and the loop waits: it
	// must not block.
	Admit(a *admission.Attributes) admission.Result
}
