package pleg

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// slotTime is how long an inspection holds its slot. After that it counts as hanging: it continues,
// but others no longer wait for it. The more inspections hang, the less time the next one holds its
// slot, but at least minSlotTime. So however many hang, others wait little longer than slotTime in
// all.
const (
	slotTime    = 2 * time.Second
	minSlotTime = 20 * time.Millisecond
)

// inspection is the result of an inspection of one pod.
type inspection struct {
	uid types.UID
	at  time.Time
	pod status.ObservedPod
	err error
	// took is the time since the inspection was requested, including the wait for a slot.
	took time.Duration
}

// handleRequests inspects the pods that have requests.
func (g *Generator) handleRequests(ctx context.Context) {
	byUID, byID := g.requests.take()
	for id, r := range byID {
		for uid, rec := range g.records { // rare: only for sandboxes that are gone
			if rec.old.has(id) || rec.current.has(id) {
				byUID[uid] = byUID[uid].merge(r)
			}
		}
	}
	for uid, r := range byUID {
		if r.event {
			delete(g.stream.suspects, uid)
		}
		g.handleRequest(ctx, uid, r)
	}
}

// handleRequest inspects a pod, unless the known observation or the inspection under way is new
// enough, or a delayed inspection is sufficient.
func (g *Generator) handleRequest(ctx context.Context, uid types.UID, r inspectRequest) {
	rec := g.record(uid)
	// If nothing runs, nothing can exit, and a worker that starts something requests an inspection
	// itself. It is not known what an inspection under way will show.
	soon := r.delayable || !r.asked && !rec.inFlight && rec.old.allExited()
	now := g.cfg.Now()
	switch {
	case g.stream.trusted && (soon || r.alsoDelayed):
		g.delayed.add(uid, now.Add(g.cfg.Period), now, r.alsoDelayed)
	case r.alsoDelayed:
		g.stream.delayAlso(uid)
	}
	switch {
	case soon && g.stream.trusted:
		rec.eventPending = rec.eventPending || !r.delayable
		rec.asOf = later(rec.asOf, r.newer.Add(1))
	case g.cfg.Cache.newer(uid, r.newer):
	case rec.inFlight && rec.begun.After(r.newer):
		rec.eventAt = earlier(rec.eventAt, r.eventAt)
	default:
		g.inspect(ctx, uid, rec, r)
	}
}

// inspect inspects a pod as soon as a slot is free and no other inspection of the pod is in flight.
// Until then further requests are merged into this one.
func (g *Generator) inspect(ctx context.Context, uid types.UID, rec *record, r inspectRequest) {
	now := g.cfg.Now()
	rec.asOf = later(now, r.newer.Add(1))
	rec.newer = later(rec.newer, r.newer)
	rec.since = earlier(rec.since, now)
	rec.nextEventAt = earlier(rec.nextEventAt, r.eventAt)
	first := !rec.queued || r.asked && !rec.asked
	rec.asked = rec.asked || r.asked
	if rec.inFlight {
		rec.again = true
		return
	}
	rec.queued = true
	if first {
		g.queue.add(uid, rec.asked)
	}
	g.startQueued(ctx)
}

// startInspection begins an inspection. The caller has acquired a slot, which is released when the
// inspection has returned, or hangs.
func (g *Generator) startInspection(ctx context.Context, uid types.UID, rec *record) {
	newer, since := rec.newer, rec.since
	rec.begun = later(g.cfg.Now(), newer.Add(1))
	rec.asOf = later(rec.asOf, rec.begun)
	rec.eventAt = earlier(rec.eventAt, rec.nextEventAt)
	rec.eventPending = false
	rec.clearRequest()
	g.delayed.inspectionStarted(uid)
	callCtx, cancel := context.WithCancel(ctx)
	rec.inFlight, rec.cancel = true, cancel
	release := sync.OnceFunc(func() { <-g.slots })
	hangs := time.AfterFunc(max(slotTime/time.Duration(1+max(g.hanging.Load(), 0)), minSlotTime), func() {
		g.hanging.Add(1)
		release()
		select {
		case g.freed <- struct{}{}:
		default: // a wake-up is pending already
		}
	})
	g.running.Go(func() {
		defer cancel()
		result := g.callRuntime(callCtx, uid, newer)
		result.took = g.cfg.Now().Sub(since)
		if !hangs.Stop() {
			g.hanging.Add(-1)
		}
		release()
		select {
		case g.inspections <- result:
		case <-ctx.Done():
		}
	})
}

// finishInspection handles the result of an inspection: it is stored in the cache before any event
// is delivered. After a failure no event is delivered, and the inspection is tried again.
func (g *Generator) finishInspection(ctx context.Context, i inspection) {
	g.cfg.Observer.Inspected(i.took)
	rec := g.records[i.uid]
	again := rec.again
	rec.inFlight, rec.again = false, false

	switch {
	case rec.stale:
		rec.stale, rec.eventAt = false, time.Time{}
		again = again || rec.current != nil
		if !again && !g.delayed.has(i.uid) {
			delete(g.records, i.uid)
		}
	case i.err != nil:
		i.err = fmt.Errorf("inspecting pod %s/%s (uid %s): %w", rec.namespace, rec.name, i.uid, i.err)
		if !rec.failed {
			g.cfg.Logger.Warn("pod inspection failed", "pod", rec.namespace+"/"+rec.name, "uid", i.uid, "err", i.err)
		}
		rec.failed = true
		g.cfg.Cache.SetError(i.uid, i.err, i.at)
		g.delayInspection(i.uid, rec)
	default:
		g.applyInspection(rec, i)
		again = again || !rec.old.equal(rec.current)
		g.delayInspection(i.uid, rec)
	}
	if again {
		g.inspect(ctx, i.uid, rec, inspectRequest{})
	}
	g.startQueued(ctx)
}

// applyInspection updates the record and the cache from an inspection, and delivers the events.
func (g *Generator) applyInspection(rec *record, i inspection) {
	seen := statesOf(&i.pod)
	events := diff(i.uid, rec.old, seen)
	if len(events) == 0 && rec.failed {
		events = []Event{{UID: i.uid, Type: PodSync}}
	}
	rec.old, rec.failed = seen, false
	listed := rec.listAt.After(i.at)
	if !listed {
		rec.current = seen
	}
	i.pod.UID = i.uid
	g.keepAddresses(&i.pod)
	g.cfg.Cache.Set(i.pod, i.at)
	if listed && rec.current.equal(seen) {
		g.cfg.Cache.SetObserved(i.uid, rec.listAt) // a later list has shown the same
	}
	g.deliver(events)
	if !rec.eventAt.IsZero() {
		g.cfg.Observer.Lag(g.cfg.Now().Sub(rec.eventAt))
		rec.eventAt = time.Time{}
	}
}

// keepAddresses copies the last known addresses to a pod whose sandbox has stopped: its status
// continues to show them.
func (g *Generator) keepAddresses(p *status.ObservedPod) {
	if len(p.IPs) > 0 {
		return
	}
	for i := range p.Sandboxes {
		if p.Sandboxes[i].Ready {
			return
		}
	}
	before, _ := g.cfg.Cache.Get(p.UID)
	p.IPs = before.IPs
}

// othersTurn is the turn, one in every othersTurn, that is reserved for pods without a waiting
// caller.
const othersTurn = 4

// queue holds the pods whose inspection waits for a slot. Pods with a waiting caller come first,
// and both lists are in order of arrival. A pod may be queued more than once; its record says
// whether it still has to be inspected.
type queue struct {
	asked, others []types.UID
	turn          int
}

func (q *queue) add(uid types.UID, asked bool) {
	if asked {
		q.asked = append(q.asked, uid)
	} else {
		q.others = append(q.others, uid)
	}
}

// next removes and returns the next pod, false if there is none.
func (q *queue) next() (types.UID, bool) {
	if len(q.asked)+len(q.others) == 0 {
		*q = queue{} // releases the memory of a burst
		return "", false
	}
	from := &q.asked
	q.turn++
	if len(q.asked) == 0 || q.turn%othersTurn == 0 && len(q.others) > 0 {
		from = &q.others
	}
	uid := (*from)[0]
	*from = (*from)[1:]
	return uid, true
}

// startQueued begins inspections as long as there are free slots and waiting pods.
func (g *Generator) startQueued(ctx context.Context) {
	for {
		select {
		case g.slots <- struct{}{}:
		default:
			return
		}
		uid, rec := g.nextQueued()
		if rec == nil {
			<-g.slots
			return
		}
		g.startInspection(ctx, uid, rec)
	}
}

func (g *Generator) nextQueued() (types.UID, *record) {
	for {
		uid, ok := g.queue.next()
		if !ok {
			return "", nil
		}
		if rec := g.records[uid]; rec != nil && rec.queued && !rec.inFlight {
			return uid, rec
		}
	}
}
