package checkpoint

import (
	"log/slog"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/internal/writeback"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/core/status"
)

// Outcomes stores the outcomes of pods and the restart counts of their containers, for the workers.
// It writes at once that a pod has terminated, was rejected or, with an active deadline, has
// started, and the results of probes. It writes restart counts within a second, and nothing else.
// The methods may be called from any goroutine; Run performs the deferred writes.
type Outcomes struct {
	// Wanted reports whether a source wants the pod, Removable whether its outcome may be removed.
	// Both are set before any pod runs.
	Wanted    func(uid types.UID) bool
	Removable func(uid types.UID, source string) bool

	// clock measures how long pods have been active.
	clock bootClock
	log   *slog.Logger
	// urgent, for awaited outcomes, has room for one value and is never closed.
	urgent chan struct{}

	// mu is held while records are read and then set.
	mu   sync.Mutex
	kept *writeback.Map[types.UID, state.Outcome]
	// claimed are the pods that have, or had, a worker. The worker decides about the outcome.
	claimed map[types.UID]bool
	// lives are the lives of the pods that the sync loop has.
	lives map[types.UID]life
	// awaited are the outcomes that callers wait for.
	awaited []rejected
}

// OutcomeDisk stores outcomes; state.Outcomes implements it.
type OutcomeDisk interface {
	writeback.Disk[types.UID, state.Outcome]
	Load() ([]state.Outcome, []error)
}

// NewOutcomes loads the records of an earlier agent.
func NewOutcomes(disk OutcomeDisk, log *slog.Logger) *Outcomes {
	o := &Outcomes{
		log: log, urgent: make(chan struct{}, 1), clock: newBootClock(),
		claimed: map[types.UID]bool{}, lives: map[types.UID]life{},
	}
	o.kept = writeback.New(disk, writeback.Options[types.UID]{Delay: outcomeBatch, Retry: outcomeRetry, Report: o.reporter()})
	kept, errs := disk.Load()
	for _, err := range errs {
		log.Error("the record of how a pod ended is lost; if its containers are gone, too, it starts again", "err", err)
	}
	for i := range kept {
		o.kept.Loaded(kept[i].UID, kept[i])
	}
	return o
}

// Saved implements worker.Outcomes. It ignores the outcome of another pod that had the UID.
func (o *Outcomes) Saved(p *v1.Pod) (v1.PodStatus, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept, ok := o.kept.Get(p.UID)
	if !ok || o.claimed[p.UID] {
		return v1.PodStatus{}, false
	}
	o.claimed[p.UID] = true
	if !isOutcomeOf(p, &kept) {
		o.forget(p.UID)
		return v1.PodStatus{}, false
	}
	return kept.Status, true
}

// Ended reports whether the pod has terminated. It ignores the outcome of another pod that had the
// UID.
func (o *Outcomes) Ended(p *v1.Pod) bool {
	kept, ok := o.kept.Get(p.UID)
	return ok && pod.IsTerminal(kept.Status.Phase) && isOutcomeOf(p, &kept)
}

// isOutcomeOf reports whether an outcome belongs to this version of a pod, which is the newest that
// the sync loop has.
func isOutcomeOf(p *v1.Pod, kept *state.Outcome) bool {
	instance, err := outcomeInstance(p)
	return err == nil && instance == kept.Instance
}

// Save implements worker.Outcomes. It stores nothing for a pod that no source wants any more: if
// the pod comes back, it is a new pod.
func (o *Outcomes) Save(p *v1.Pod, st *v1.PodStatus) {
	next := status.Outcome(p, st)
	if p.Spec.ActiveDeadlineSeconds != nil && next.StartTime == nil {
		next.StartTime = st.StartTime.DeepCopy()
	}
	if !o.news(p.UID, &next) {
		return
	}
	if !o.Wanted(p.UID) {
		o.Forget(p.UID)
		return
	}
	atOnce, err := o.keep(p, next)
	if err != nil {
		o.log.Error("the status of a pod is not saved", "pod", p.Namespace+"/"+p.Name, "uid", p.UID, "err", err)
		return
	}
	if atOnce || pod.IsTerminal(next.Phase) {
		o.kept.Write(p.UID)
	}
}

// keep sets the outcome of a pod, and reports whether it is to be written at once: its active
// deadline begins, or a probe result has changed. It does nothing if the status is no longer new,
// because another goroutine may have saved the pod's termination.
func (o *Outcomes) keep(p *v1.Pod, next v1.PodStatus) (atOnce bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.news(p.UID, &next) {
		return false, nil
	}
	l, err := o.lifeOf(p)
	if err != nil {
		return false, err
	}
	if o.flips(p.UID, &next) {
		if now := time.Now(); now.Sub(l.flipping) >= time.Minute {
			l.flips, l.flipping = 0, now
		}
		if l.flips >= maxFlips {
			return false, nil
		}
		if l.flips++; !l.since.IsZero() {
			o.lives[p.UID] = l
		}
	}
	var started *state.BootTime
	if kept, ok := o.kept.Get(p.UID); ok {
		raise(&next, &kept.Status)
		started, atOnce = kept.Started, probed(&kept.Status, &next)
	} else {
		atOnce = probed(&v1.PodStatus{}, &next)
	}
	begins := started == nil && p.Spec.ActiveDeadlineSeconds != nil && !next.StartTime.IsZero()
	if begins {
		started = o.clock.at(next.StartTime.Time)
	}
	o.set(p, &l, next, started)
	return atOnce || begins, nil
}

// set stores the outcome of a pod. The caller holds the lock.
func (o *Outcomes) set(p *v1.Pod, l *life, st v1.PodStatus, started *state.BootTime) {
	o.claimed[p.UID] = true
	kept := state.Outcome{Namespace: p.Namespace, Name: p.Name, UID: p.UID, Status: st, Started: started}
	l.mark(&kept)
	o.kept.Set(p.UID, kept)
}

// Forget records that the pod is gone, or that a new one begins under its UID. It does not block.
func (o *Outcomes) Forget(uid types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.lives, uid)
	o.forget(uid)
}

// forget removes the outcome of a UID. The caller holds the lock.
func (o *Outcomes) forget(uid types.UID) {
	delete(o.claimed, uid)
	o.kept.Remove(uid)
}

// maxFlips is the greatest number of readiness changes of a pod's containers that are saved in a
// minute: a container whose readiness changes all the time must not wear out the disk. Later syncs
// of the pod's worker save the current state.
const maxFlips = 5

// flips reports whether next differs from the stored outcome only in the readiness of containers.
func (o *Outcomes) flips(uid types.UID, next *v1.PodStatus) bool {
	outcome, _ := o.kept.Get(uid)
	same := next.DeepCopy()
	for c := range pod.Statuses(same) {
		had := pod.ContainerStatus(&outcome.Status, c.Name)
		if had != nil && had.ContainerID == c.ContainerID {
			c.Ready = had.Ready
		}
	}
	return !o.news(uid, same)
}

// news reports whether next has more than the stored outcome: a termination, another termination, a
// restart, a start time, or a probe result.
func (o *Outcomes) news(uid types.UID, next *v1.PodStatus) bool {
	outcome, _ := o.kept.Get(uid)
	kept := outcome.Status
	if ended := pod.IsTerminal(kept.Phase); ended || pod.IsTerminal(next.Phase) {
		return pod.IsTerminal(next.Phase) && !equality.Semantic.DeepEqual(&kept, next)
	}
	if kept.StartTime.IsZero() && !next.StartTime.IsZero() {
		return true
	}
	for c := range pod.Statuses(next) {
		if c.RestartCount > restarts(&kept, c.Name) {
			return true
		}
	}
	return probed(&kept, next)
}

// probed reports whether the probe results in next differ from those in kept.
func probed(kept, next *v1.PodStatus) bool {
	for c := range pod.Statuses(next) {
		had := pod.ContainerStatus(kept, c.Name)
		if c.ContainerID != "" && (had == nil || c.ContainerID != had.ContainerID ||
			c.Ready != had.Ready || !equality.Semantic.DeepEqual(c.Started, had.Started)) {
			return true
		}
	}
	return false
}

// raise raises each restart count of next to at least its earlier value.
func raise(next, kept *v1.PodStatus) {
	for c := range pod.Statuses(next) {
		c.RestartCount = max(c.RestartCount, restarts(kept, c.Name))
	}
}

func restarts(st *v1.PodStatus, container string) int32 {
	if c := pod.ContainerStatus(st, container); c != nil {
		return c.RestartCount
	}
	return 0
}

// outcomeInstance returns the instance that distinguishes pods with the same UID, empty for a pod
// of an API server. An API server uses a UID once, and allows changes of labels after a pod has
// terminated.
func outcomeInstance(p *v1.Pod) (string, error) {
	if !pod.IsStatic(p) {
		return "", nil
	}
	return pod.Instance(p)
}
