package syncloop

import (
	"context"
	"log/slog"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/pleg"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/worker"
)

// Config is what a Loop works with. All fields but Health and Admitter are
// needed.
type Config struct {
	// Updates is the mux's stream. The loop ends when it is closed.
	Updates <-chan pod.Update
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
	Log      *slog.Logger
}

// Desired is the mux's view of what should run.
type Desired interface {
	// Wanted reports whether a source wants the pod, whether or not the loop
	// has heard of it.
	Wanted(uid types.UID) bool
	// Seen reports whether the source has given its first snapshot. A source
	// that is not configured any more counts as seen.
	Seen(source string) bool
}

// PLEG tells what happens in the runtime.
type PLEG interface {
	Events() <-chan pleg.Event
	// Relist lists all pods of the runtime anew and waits for that.
	Relist(ctx context.Context) error
}

// Workers bring pods to where they should be; see worker.Pool.
type Workers interface {
	Update(r worker.Request)
	Due() []types.UID
	Known(wanted func(types.UID) bool) map[types.UID]worker.State
	Strays() []worker.Stray
	KillStray(s *worker.Stray)
	Has(uid types.UID) bool
	KnownTerminated(uid types.UID) bool
	TerminationRequested(uid types.UID) bool
	ContentRemovable(uid types.UID) bool
}

// Statuses hold the newest status of every pod.
type Statuses interface {
	Get(uid types.UID) (v1.PodStatus, bool)
	Set(p *v1.Pod, st v1.PodStatus) (bool, error)
	// Warn shows a condition with the pod, of a reason, until it is called again,
	// and none for an empty message.
	Warn(uid types.UID, reason, message string, since time.Time)
	// Changed is Warn for what policies have changed of the pod.
	Changed(uid types.UID, reason, message string, since time.Time)
	// DeleteEnded forgets the pod if its phase is a terminal one.
	DeleteEnded(uid types.UID)
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
