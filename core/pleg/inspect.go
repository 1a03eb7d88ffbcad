package pleg

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// slotTime is how long an inspection holds its slot. After that it hangs: it
// goes on, but others no longer wait for it.
const slotTime = 2 * time.Second

// inspection is the answer to an inspection of one pod.
type inspection struct {
	uid types.UID
	at  time.Time
	pod status.ObservedPod
	err error
}

// refresh inspects a pod on demand. A request older than the last list is
// void: that list has shown the pod unchanged, or had it inspected.
func (g *Generator) refresh(ctx context.Context, r refresh) {
	if at := g.listedAt.Load(); at != nil && at.After(r.at) {
		return
	}
	g.inspect(ctx, r.uid, g.record(r.uid))
}

// inspect begins an inspection; with one in flight it begins after that.
func (g *Generator) inspect(ctx context.Context, uid types.UID, rec *record) {
	if rec.inFlight {
		rec.again = true
		return
	}
	callCtx, cancel := context.WithCancel(ctx)
	rec.inFlight, rec.cancel, rec.asOf = true, cancel, g.cfg.Now()
	g.running.Go(func() {
		defer cancel()
		result := g.callRuntime(callCtx, uid)
		select {
		case g.inspections <- result:
		case <-ctx.Done():
		}
	})
}

// callRuntime inspects a pod when there is a slot for it.
func (g *Generator) callRuntime(ctx context.Context, uid types.UID) inspection {
	select {
	case g.slots <- struct{}{}:
	case <-ctx.Done():
		return inspection{uid: uid, err: ctx.Err()}
	}
	release := sync.OnceFunc(func() { <-g.slots })
	defer release()
	hangs := time.AfterFunc(slotTime, release)
	defer hangs.Stop()

	ctx, cancel := context.WithTimeout(ctx, g.cfg.InspectTimeout)
	defer cancel()
	at := g.cfg.Now()
	p, err := g.cfg.Runtime.InspectPod(ctx, uid)
	return inspection{uid: uid, at: at, pod: p, err: err}
}

// finishInspection takes in an inspection: the cache has it before anyone is
// told. A failure delivers nothing; the next list tries again.
func (g *Generator) finishInspection(ctx context.Context, i inspection) {
	rec := g.records[i.uid]
	again := rec.again
	rec.inFlight, rec.again = false, false

	switch {
	case rec.stale:
		rec.stale = false
		again = again || rec.current != nil
		if !again {
			delete(g.records, i.uid)
		}
	case i.err != nil:
		i.err = fmt.Errorf("inspecting pod %s (uid %s): %w", rec.name, i.uid, i.err)
		if !rec.failed {
			g.cfg.Logger.Warn("pod inspection failed", "pod", rec.name, "uid", i.uid, "err", i.err)
		}
		rec.failed = true
		g.cfg.Cache.SetError(i.uid, i.err, i.at)
	default:
		g.takeInspection(rec, i)
		again = again || len(diff(i.uid, rec.old, rec.current)) > 0
	}
	if again {
		g.inspect(ctx, i.uid, rec)
	}
}

func (g *Generator) takeInspection(rec *record, i inspection) {
	seen := statesOf(&i.pod)
	events := diff(i.uid, rec.old, seen)
	if len(events) == 0 && rec.failed {
		events = []Event{{UID: i.uid, Type: PodSync}}
	}
	rec.old, rec.failed = seen, false
	if !rec.listAt.After(i.at) {
		rec.current = seen
	}
	i.pod.UID = i.uid
	g.keepIPs(&i.pod)
	g.cfg.Cache.Set(i.pod, i.at)
	g.deliver(events)
}

// keepIPs gives a pod whose sandbox has ended the addresses it had: its
// status goes on naming them.
func (g *Generator) keepIPs(p *status.ObservedPod) {
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
