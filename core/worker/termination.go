package worker

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// Endings keep, over restarts of the agent, which pods are being ended and how much of
// their grace period is left.
type Endings interface {
	// Begin says that the containers of a pod, first seen at seen, are about to be told to
	// end within grace. That is written soon; it does not block.
	Begin(uid types.UID, seen time.Time, grace time.Duration)
	// Before gives the end that an earlier agent has begun of a pod, false for none. It
	// does not block.
	Before(uid types.UID) (End, bool)
	// Over says that the pod has ended, or goes on after all. One that is to go is
	// remembered until nothing is left of it. It does not block.
	Over(uid types.UID, goes bool)
	// Forget forgets an end, durably where the disk lets it: another pod starts under the
	// UID.
	Forget(uid types.UID)
}

// End is an end that an earlier agent has begun.
type End struct {
	// Seen is when the pod was first seen.
	Seen time.Time
	// Rest is what is left of its grace period, 0 or less for nothing.
	Rest time.Duration
}

// goesOn is how long after a start of the agent a pod that an earlier one was ending is
// one that goes on.
const goesOn = time.Minute

// Former reports whether what the runtime has of this UID is of another pod than the one
// first seen at seen, which an earlier agent was ending.
func (p *Pool) Former(uid types.UID, seen time.Time) bool {
	if p.cfg.Endings == nil {
		return false
	}
	e, ok := p.cfg.Endings.Before(uid)
	return ok && !e.Seen.Equal(seen)
}

// inherit takes up the end of the pod, or of what the runtime has of it, that an earlier
// agent has begun.
func (p *Pool) inherit(rec *record) {
	if p.cfg.Endings == nil {
		return
	}
	if e, ok := p.cfg.Endings.Before(rec.uid); ok && (rec.pod == nil || e.Seen.Equal(rec.origin.FirstSeen)) {
		rec.born = p.cfg.Now()
		rec.deadline = rec.born.Add(e.Rest)
	}
}

// inherits reports whether an earlier agent was ending the pod.
func (r *record) inherits() bool { return !r.deadline.IsZero() }

// bound lets the grace period be no longer than what an earlier agent has left of it. A
// pod that only the runtime knows has just that.
func (r *record) bound(now time.Time) {
	if !r.inherits() {
		return
	}
	rest := max(int64(r.deadline.Sub(now)/time.Second), 1)
	if r.pod == nil {
		r.grace = rest
	}
	r.grace = min(r.grace, rest)
}

// period is what the containers of the pod get to end.
func (r *record) period() time.Duration {
	if r.pod == nil && !r.inherits() {
		return orphanGrace
	}
	return seconds(r.grace)
}

// lookAgain is when a pod is looked at again that is as it should be. One that an earlier
// agent was ending, and that nobody ends any more, is one as others then.
func (p *Pool) lookAgain(rec *record) time.Duration {
	if !rec.inherits() {
		return p.syncFrequency()
	}
	left := goesOn - p.cfg.Now().Sub(rec.born)
	if left > 0 {
		return min(left, p.syncFrequency())
	}
	rec.deadline = time.Time{}
	p.over(rec, false)
	return p.syncFrequency()
}

// over says that the end of a pod is over.
func (p *Pool) over(rec *record, goes bool) {
	if p.cfg.Endings != nil {
		p.cfg.Endings.Over(rec.uid, goes)
	}
}

// Ending is a pod that is being ended.
type Ending struct {
	Pod    *v1.Pod
	Origin api.Origin
	// Since is when it began, Grace its grace period in seconds.
	Since time.Time
	Grace int64
}

// Ending lists the pods that are being ended, in no order, until their worker
// has nothing left to do. Pods that only the runtime knows are not among them.
func (p *Pool) Ending() []Ending {
	p.mu.Lock()
	defer p.mu.Unlock()
	var ending []Ending
	for _, rec := range p.records {
		if rec.pod != nil && (rec.state == Terminating || rec.state == Terminated) {
			ending = append(ending, Ending{Pod: rec.pod, Origin: rec.origin, Since: rec.endedAt, Grace: rec.grace})
		}
	}
	return ending
}
