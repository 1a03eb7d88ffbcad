package pleg

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/internal/backoff"
	"github.com/wardlet/wardlet/core/status"
)

// inspectRequest asks for an inspection of a pod. The zero value asks for none.
type inspectRequest struct {
	// newer is the time the inspection has to be newer than. asked is set where a
	// caller waits for it, and not only an event is about the pod.
	newer time.Time
	asked bool
	// event is set where the runtime told of a change; eventAt is when the first such
	// change was, zero where that does not count.
	event   bool
	eventAt time.Time
	// delayable is set where an inspection a moment later is enough, alsoDelayed where
	// one then is needed too.
	delayable, alsoDelayed bool
}

// inspectRequests are the pods to be inspected. Any goroutine adds, without ever
// having to wait; Run takes. There is one request for each pod, so nothing has to be
// dropped.
type inspectRequests struct {
	mu    sync.Mutex
	byUID map[types.UID]inspectRequest
	// byID are the requests of which only the ID of a container is known.
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

// addEvent adds what the runtime tells, now.
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
	default: // it has been told
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

// merge returns a request for both.
func (r inspectRequest) merge(o inspectRequest) inspectRequest {
	if r == (inspectRequest{}) {
		return o
	}
	return inspectRequest{
		newer: later(r.newer, o.newer), asked: r.asked || o.asked, event: r.event || o.event, eventAt: earlier(r.eventAt, o.eventAt),
		delayable: r.delayable && o.delayable, alsoDelayed: r.alsoDelayed || o.alsoDelayed,
	}
}

// delayedInspections are the pods to be inspected later without a request: where an
// inspection has failed, where a state has to settle, and where the runtime tells of a
// change before it shows. They take the place of the lists that came every second, and
// are kept only while events are relied on.
type delayedInspections struct {
	due   map[types.UID]delayedInspection
	timer *time.Timer
	next  time.Time // when timer fires; zero: it does not
}

type delayedInspection struct {
	at time.Time
	// notBefore is set where an inspection before that does not do.
	notBefore bool
	// begun is set where an inspection has begun since this one was asked for: one
	// that was under way already does not do.
	begun bool
}

func newDelayedInspections() *delayedInspections {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	return &delayedInspections{due: map[types.UID]delayedInspection{}, timer: timer}
}

// add delays an inspection until at: it comes no later or, with notBefore, no earlier.
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

// dropIfServed removes a delayed inspection that an earlier one has made needless.
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

// takeDue returns the pods whose time has come, and removes them.
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

// delayInspection has a pod inspected again later where its last inspection may not
// stay true.
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
