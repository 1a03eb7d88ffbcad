package pleg

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// record holds what the generator knows about one pod.
type record struct {
	// name and namespace are for the log.
	name, namespace string
	// old is the state after all delivered events, current the state that was seen last; nil means
	// that the pod does not exist. If they differ, the pod must be inspected.
	old, current states
	// listAt is when the last list that contains the pod was begun. round is the number of that
	// list.
	listAt time.Time
	round  uint64
	// asOf is when the last inspection, or the last delayed one, was requested, or when it began if
	// it has begun. Lists that were begun before it are ignored.
	asOf time.Time
	// failed is true while the last inspection has failed.
	failed bool

	// inFlight is true while an inspection runs that began at begun. cancel cancels it.
	inFlight bool
	begun    time.Time
	cancel   context.CancelFunc
	// queued is true while an inspection waits for a slot. again is true if another one has to
	// follow the one in flight. asked is true if a caller waits for it. Its result must be newer
	// than newer. since is when it was first requested.
	queued, again, asked bool
	newer, since         time.Time
	// stale is true if a list begun after the inspection in flight no longer contains the pod: the
	// result of that inspection is ignored.
	stale bool

	// eventPending is true if an event has arrived after which no inspection has begun yet.
	eventPending bool

	// eventAt is the time of the oldest runtime event that caused the inspection in flight.
	// nextEventAt is that of the next inspection. Zero means none.
	eventAt, nextEventAt time.Time
	// pause is the length of the last wait for a state to settle.
	pause time.Duration
}

// needsInspection reports whether the pod has changed since its last successful inspection.
func (r *record) needsInspection() bool {
	return r.failed || r.old == nil || !r.old.equal(r.current)
}

// clearRequest records that no further inspection is requested.
func (r *record) clearRequest() {
	r.queued, r.again, r.asked = false, false, false
	r.newer, r.since, r.nextEventAt = time.Time{}, time.Time{}, time.Time{}
}

// record returns the record of a pod, and adds one if there is none.
func (g *Generator) record(uid types.UID) *record {
	rec, ok := g.records[uid]
	if !ok {
		rec = &record{}
		g.records[uid] = rec
	}
	return rec
}

// removePod removes a pod that is gone.
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

// earlier returns the earlier of two times; zero means none.
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
