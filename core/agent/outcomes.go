package agent

import (
	"log/slog"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/internal/faultlog"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/core/status"
)

// outcomes keep how pods ended and how often their containers were restarted,
// for the workers. How a pod ended is written at once, and so is when one with an
// active deadline began, and that one was rejected; restart counts within a second,
// nothing else. The methods may be called from any goroutine; run is
// the one that writes what can wait.
type outcomes struct {
	disk outcomeDisk
	// wanted reports whether a source wants the pod, removable whether nothing
	// of it is to be kept. Both are set before anything runs.
	wanted    func(uid types.UID) bool
	removable func(uid types.UID, source string) bool
	// clock measures for how long pods have been active.
	clock bootClock
	log   *slog.Logger

	// nudge and urgent, for what somebody waits for, have room for one value and are
	// never closed.
	nudge, urgent chan struct{}

	mu      sync.Mutex
	entries map[types.UID]*outcomeEntry
	// lives are those of the pods that the sync loop has.
	lives map[types.UID]life
	// awaited are the outcomes that somebody waits for.
	awaited []rejected
	// unwritten is of the disk: what cannot be written of one pod cannot be of
	// many.
	unwritten faultlog.Pace
}

// outcomeDisk is where outcomes are; state.Outcomes is one.
type outcomeDisk interface {
	// Put is durable when it returns.
	Put(o *state.Outcome) error
	// Delete forgets an outcome; one that is not there is no error.
	Delete(uid types.UID) error
	Load() ([]state.Outcome, []error)
}

// outcomeEntry is the outcome of one UID.
type outcomeEntry struct {
	// writing is held while the file is written.
	writing sync.Mutex
	// kept is what is to be on the disk, nil for nothing. It is replaced, never
	// changed. dirty is true while the disk may have something else.
	kept  *state.Outcome
	dirty bool
	// claimed is true once the pod has, or had, a worker, which says what
	// becomes of the outcome.
	claimed bool
}

// newOutcomes reads what an earlier agent has kept.
func newOutcomes(disk outcomeDisk, log *slog.Logger) *outcomes {
	o := &outcomes{disk: disk, log: log, nudge: make(chan struct{}, 1), urgent: make(chan struct{}, 1), entries: map[types.UID]*outcomeEntry{}, lives: map[types.UID]life{}, clock: newBootClock()}
	kept, errs := disk.Load()
	for _, err := range errs {
		log.Error("how a pod ended was lost; if its containers are gone, too, it starts again", "err", err)
	}
	for i := range kept {
		o.entries[kept[i].UID] = &outcomeEntry{kept: &kept[i]}
	}
	return o
}

// Kept implements worker.Outcomes. An outcome of another pod that had the UID
// counts for nothing.
func (o *outcomes) Kept(p *v1.Pod) (v1.PodStatus, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	e := o.entries[p.UID]
	if e == nil || e.claimed || e.kept == nil {
		return v1.PodStatus{}, false
	}
	e.claimed = true
	if !isOutcomeOf(p, e.kept) {
		o.forget(e)
		return v1.PodStatus{}, false
	}
	return e.kept.Status, true
}

// Ended reports whether the pod has ended. That another one did which had its UID
// counts for nothing.
func (o *outcomes) Ended(p *v1.Pod) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	e := o.entries[p.UID]
	return e != nil && e.kept != nil && pod.IsTerminal(e.kept.Status.Phase) && isOutcomeOf(p, e.kept)
}

// isOutcomeOf reports whether an outcome is that of this version of a pod, which is
// the newest that the sync loop has.
func isOutcomeOf(p *v1.Pod, kept *state.Outcome) bool {
	instance, err := outcomeInstance(p)
	return err == nil && instance == kept.Instance
}

// Keep implements worker.Outcomes. Of a pod that nobody wants any more nothing
// is kept: if it comes back, it is another one.
func (o *outcomes) Keep(p *v1.Pod, st *v1.PodStatus) {
	next := status.Outcome(st)
	if p.Spec.ActiveDeadlineSeconds != nil && next.StartTime == nil {
		next.StartTime = st.StartTime.DeepCopy()
	}
	if !o.news(p.UID, &next) {
		return
	}
	if !o.wanted(p.UID) {
		o.Forget(p.UID)
		return
	}
	o.mu.Lock()
	l, err := o.lifeOf(p)
	if err != nil {
		o.mu.Unlock()
		o.log.Error("how a pod fares is not kept", "pod", p.Namespace+"/"+p.Name, "uid", p.UID, "err", err)
		return
	}
	e := o.entries[p.UID]
	if e == nil {
		e = &outcomeEntry{}
		o.entries[p.UID] = e
	}
	var started *state.BootTime
	if e.kept != nil {
		raise(&next, &e.kept.Status)
		started = e.kept.Started
	}
	begins := started == nil && p.Spec.ActiveDeadlineSeconds != nil && !next.StartTime.IsZero()
	if begins {
		started = o.clock.at(next.StartTime.Time)
	}
	e.claimed, e.dirty = true, true
	e.kept = &state.Outcome{Namespace: p.Namespace, Name: p.Name, UID: p.UID, Status: next, Started: started}
	l.mark(e.kept)
	o.mu.Unlock()
	if !begins && !pod.IsTerminal(next.Phase) || !o.write(p.UID, e) {
		o.poke()
	}
}

// Forget says that the pod is gone, or that a new one begins under its UID. It
// does not block.
func (o *outcomes) Forget(uid types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.lives, uid)
	if e := o.entries[uid]; e != nil && e.kept != nil {
		o.forget(e)
	}
}

func (o *outcomes) forget(e *outcomeEntry) {
	e.kept, e.dirty = nil, true
	o.poke()
}

func (o *outcomes) poke() {
	select {
	case o.nudge <- struct{}{}:
	default:
	}
}

// news reports whether next says more than what is kept: an end, another end,
// a restart, or when it began.
func (o *outcomes) news(uid types.UID, next *v1.PodStatus) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	e, kept := o.entries[uid], v1.PodStatus{}
	if e != nil && e.kept != nil {
		kept = e.kept.Status
	}
	if ended := pod.IsTerminal(kept.Phase); ended || pod.IsTerminal(next.Phase) {
		return pod.IsTerminal(next.Phase) && !equality.Semantic.DeepEqual(&kept, next)
	}
	if kept.StartTime.IsZero() && !next.StartTime.IsZero() {
		return true
	}
	for i := range next.ContainerStatuses {
		c := &next.ContainerStatuses[i]
		if c.RestartCount > restarts(&kept, c.Name) {
			return true
		}
	}
	return false
}

// raise lets no restart count of next be less than it was.
func raise(next, kept *v1.PodStatus) {
	for i := range next.ContainerStatuses {
		c := &next.ContainerStatuses[i]
		c.RestartCount = max(c.RestartCount, restarts(kept, c.Name))
	}
}

func restarts(st *v1.PodStatus, container string) int32 {
	for i := range st.ContainerStatuses {
		if st.ContainerStatuses[i].Name == container {
			return st.ContainerStatuses[i].RestartCount
		}
	}
	return 0
}

// outcomeInstance tells pods of one UID apart. An API server gives a UID once,
// and lets people label a pod that has ended.
func outcomeInstance(p *v1.Pod) (string, error) {
	if !pod.IsStatic(p) {
		return "", nil
	}
	return pod.Instance(p)
}
