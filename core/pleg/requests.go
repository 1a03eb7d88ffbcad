package pleg

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/internal/backoff"
	"github.com/wardlet/wardlet/core/status"
)

// inspectRequest is a request for an inspection of a pod. The zero value is no request.
type inspectRequest struct {
	// newer is the time than which the observation must be newer. asked is true if a caller waits
	// for it, and false if only an event caused the request.
	newer time.Time
	asked bool
	// event is true if the runtime reported a change. eventAt is the time of the first such change,
	// zero if it is not measured.
	event   bool
	eventAt time.Time
	// delayable is true if an inspection a moment later is sufficient. alsoDelayed is true if an
	// inspection is needed then too.
	delayable, alsoDelayed bool
}

// inspectRequests are the pods to be inspected. Any goroutine adds to them without blocking; Run
// takes them. There is at most one request for each pod, so no request has to be dropped.
type inspectRequests struct {
	mu    sync.Mutex
	byUID map[types.UID]inspectRequest
	// byID are the requests for which only the ID of a container is known.
	byID map[string]inspectRequest
	// wake has room for one value and is never closed.
	wake chan struct{}
}

func newInspectRequests() *inspectRequests {
	return &inspectRequests{byUID: map[types.UID]inspectRequest{}, byID: map[string]inspectRequest{}, wake: make(chan struct{}, 1)}
}

// request asks for an inspection that is newer than t.
func (r *inspectRequests) request(uid types.UID, t time.Time) {
	r.mu.Lock()
	r.byUID[uid] = r.byUID[uid].merge(inspectRequest{newer: t, asked: true})
	r.mu.Unlock()
	r.notify()
}

// addEvent adds a request for a change that the runtime reports at now.
func (r *inspectRequests) addEvent(c status.PodChange, now time.Time) {
	more := inspectRequest{
		newer: now, event: true, eventAt: c.At,
		delayable: c.Kind == status.ChangeCreated, alsoDelayed: c.Kind == status.ChangeRemoving,
	}
	r.mu.Lock()
	if c.UID != "" {
		r.byUID[c.UID] = r.byUID[c.UID].merge(more)
	} else {
		r.byID[c.ID] = r.byID[c.ID].merge(more)
	}
	r.mu.Unlock()
	r.notify()
}

// notify wakes Run.
func (r *inspectRequests) notify() {
	select {
	case r.wake <- struct{}{}:
	default: // a wake-up is pending already
	}
}

// take returns all requests and removes them.
func (r *inspectRequests) take() (byUID map[types.UID]inspectRequest, byID map[string]inspectRequest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	byUID, byID = r.byUID, r.byID
	r.byUID, r.byID = map[types.UID]inspectRequest{}, map[string]inspectRequest{}
	return byUID, byID
}

// merge returns one request that satisfies both.
func (r inspectRequest) merge(o inspectRequest) inspectRequest {
	if r == (inspectRequest{}) {
		return o
	}
	return inspectRequest{
		newer: later(r.newer, o.newer), asked: r.asked || o.asked, event: r.event || o.event, eventAt: earlier(r.eventAt, o.eventAt),
		delayable: r.delayable && o.delayable, alsoDelayed: r.alsoDelayed || o.alsoDelayed,
	}
}

// delayedInspections are the pods to be inspected later without a request: because an inspection
// has failed, because a state has to settle, or because the runtime reports a change before it
// shows it. They replace the lists that would otherwise be made every second, and are kept only
// while events are relied on.
type delayedInspections struct {
	due   map[types.UID]delayedInspection
	timer *time.Timer
	next  time.Time // when timer fires, zero if it is stopped
}

type delayedInspection struct {
	at time.Time
	// notBefore is true if an inspection before at is not sufficient.
	notBefore bool
	// begun is true if an inspection has begun since this one was requested. An inspection that was
	// under way at that time is not sufficient.
	begun bool
}

func newDelayedInspections() *delayedInspections {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	return &delayedInspections{due: map[types.UID]delayedInspection{}, timer: timer}
}

// add schedules an inspection no later than at or, if firm is true, no earlier than at. A firm
// inspection that is scheduled already keeps its time, unless firm is true again.
func (d *delayedInspections) add(uid types.UID, at, now time.Time, firm bool) {
	switch before, ok := d.due[uid]; {
	case ok && before.notBefore && !firm:
		at, firm = before.at, true
	case ok && !firm:
		at = earlier(before.at, at)
	}
	d.due[uid] = delayedInspection{at: at, notBefore: firm}
	if d.next.IsZero() || at.Before(d.next) {
		d.next = at
		d.timer.Reset(at.Sub(now))
	}
}

// inspectionStarted records that an inspection of the pod has begun.
func (d *delayedInspections) inspectionStarted(uid types.UID) {
	if k, ok := d.due[uid]; ok {
		k.begun = true
		d.due[uid] = k
	}
}

// dropIfServed removes a delayed inspection if an earlier inspection has replaced it.
func (d *delayedInspections) dropIfServed(uid types.UID) {
	if k := d.due[uid]; k.begun && !k.notBefore {
		delete(d.due, uid)
	}
}

// has reports whether an inspection of the pod is delayed.
func (d *delayedInspections) has(uid types.UID) bool {
	_, ok := d.due[uid]
	return ok
}

func (d *delayedInspections) remove(uid types.UID) { delete(d.due, uid) }

func (d *delayedInspections) clear() {
	clear(d.due)
	d.timer.Stop()
	d.next = time.Time{}
}

// takeDue returns and removes the pods whose inspection is due.
func (d *delayedInspections) takeDue(now time.Time) (uids []types.UID) {
	d.next = time.Time{}
	for uid, k := range d.due {
		if !k.at.After(now) {
			uids = append(uids, uid)
			delete(d.due, uid)
			continue
		}
		d.next = earlier(d.next, k.at)
	}
	if !d.next.IsZero() {
		d.timer.Reset(d.next.Sub(now))
	}
	return uids
}

func (g *Generator) inspectDelayed(ctx context.Context) {
	for _, uid := range g.delayed.takeDue(g.cfg.Now()) {
		if rec, ok := g.records[uid]; ok {
			g.inspect(ctx, uid, rec, inspectRequest{})
		}
	}
}

// delayInspection schedules another inspection of a pod if the result of the last one may soon be
// out of date.
func (g *Generator) delayInspection(uid types.UID, rec *record) {
	if !g.stream.trusted {
		return
	}
	now := g.cfg.Now()
	switch {
	case rec.failed:
		g.delayed.add(uid, now.Add(g.cfg.Period), now, false)
	case rec.old.unsettled():
		pauses := backoff.Exponential{Min: min(g.cfg.Period, g.cfg.SafetyPeriod), Max: g.cfg.SafetyPeriod}
		rec.pause = pauses.Next(rec.pause)
		g.delayed.add(uid, now.Add(rec.pause), now, false)
	default:
		rec.pause = 0
		g.delayed.dropIfServed(uid)
	}
}
