package pleg

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// record is what the generator knows of one pod.
type record struct {
	// name and namespace are for the log.
	name, namespace string
	// old is what the events delivered so far add up to, current what was
	// last seen; nil is no such pod. Where they differ the pod must be
	// inspected.
	old, current states
	// listAt is when the list was begun that current was last taken from, round
	// the number of that list.
	listAt time.Time
	round  uint64
	// asOf is when the last inspection, or one a moment later, was asked for, or
	// begun where it has been. Lists begun before it have nothing to say.
	asOf time.Time
	// failed is true while the last inspection has failed.
	failed bool

	// inFlight is true while an inspection runs, begun at begun; cancel ends it.
	inFlight bool
	begun    time.Time
	cancel   context.CancelFunc
	// queued is true while an inspection waits for a slot, again where one is to
	// follow the one in flight. It has to be newer than newer; asked is
	// true where a caller waits for it; it was first wanted at since.
	queued, again, asked bool
	newer, since         time.Time
	// stale says that the pod was gone from a list after the inspection in
	// flight was begun: its result counts for nothing.
	stale bool

	// eventPending is set where an event has come that an inspection is yet to follow.
	eventPending bool

	// eventAt is the time of the oldest event of the runtime that the inspection in
	// flight is about, nextEventAt of the next one; zero for none.
	eventAt, nextEventAt time.Time
	// pause is how long the last wait was for a state to settle.
	pause time.Duration
}

// needsInspection reports whether the pod has changed since it was last inspected
// well.
func (r *record) needsInspection() bool {
	return r.failed || r.old == nil || !r.old.equal(r.current)
}

// clearRequest records that no next inspection is waited for any more.
func (r *record) clearRequest() {
	r.queued, r.again, r.asked = false, false, false
	r.newer, r.since, r.nextEventAt = time.Time{}, time.Time{}, time.Time{}
}

// record is the record of a pod, a new one if there is none.
func (g *Generator) record(uid types.UID) *record {
	rec, ok := g.records[uid]
	if !ok {
		rec = &record{}
		g.records[uid] = rec
	}
	return rec
}

// removePod handles that a pod is gone.
func (g *Generator) removePod(uid types.UID, rec *record) {
	g.cfg.Cache.Delete(uid)
	events := diff(uid, rec.old, nil)
	if len(events) == 0 && rec.failed {
		events = []Event{{UID: uid, Type: PodSync}}
	}
	g.deliver(events)
	g.delayed.remove(uid)
	rec.old, rec.current, rec.failed = nil, nil, false
	rec.clearRequest()
	if rec.inFlight {
		rec.stale = true
		rec.cancel()
		return
	}
	delete(g.records, uid)
}

// earlier is the earlier of two times; zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
