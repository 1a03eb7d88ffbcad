package pleg

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/status"
)

// list is the result of a full list.
type list struct {
	at   time.Time
	pods []status.ObservedPod
	err  error
}

// Relist makes a full list that begins after the call, and waits until it is in the cache.
// Inspections that follow from it may still be under way. It fails with the error of the runtime or
// of ctx. Run must be running.
func (g *Generator) Relist(ctx context.Context) error {
	reply := make(chan error, 1)
	select {
	case g.relists <- reply:
	case <-ctx.Done():
		return fmt.Errorf("waiting for a pod list to begin: %w", ctx.Err())
	}
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return fmt.Errorf("waiting for a pod list: %w", ctx.Err())
	}
}

// startList begins a full list unless one is under way.
func (g *Generator) startList(ctx context.Context) {
	if g.listing {
		return
	}
	g.listing, g.listSoon = true, false
	g.waiters, g.nextWaiters = g.nextWaiters, nil
	at := g.cfg.Now()
	if last := g.Listed(); !last.IsZero() {
		g.cfg.Observer.Interval(at.Sub(last))
	}
	g.running.Go(func() {
		pods, err := g.cfg.Runtime.ListPods(ctx)
		select {
		case g.lists <- list{at: at, pods: pods, err: err}:
		case <-ctx.Done():
		}
	})
}

// finishList handles the result of a full list, answers the waiters and schedules the next list.
func (g *Generator) finishList(ctx context.Context, l list) {
	g.listing = false
	pause := g.cfg.Period
	if l.err != nil {
		l.err = fmt.Errorf("listing the pods of the runtime: %w", l.err)
		g.listFault.Store(&l.err)
		if len(g.waiters) == 0 && g.listErr.Due("", l.err.Error(), g.cfg.Now()) {
			g.cfg.Logger.Error("pod list failed", "err", l.err)
		}
	} else {
		if g.listErr.Over() {
			g.cfg.Logger.Info("pods are listed again")
		}
		g.applyList(ctx, l)
		g.listFault.Store(nil)
		if g.stream.trusted {
			pause = g.cfg.SafetyPeriod
		}
	}
	g.cfg.Observer.Relisted(g.cfg.Now().Sub(l.at))
	for _, reply := range g.waiters {
		reply <- l.err
	}
	g.waiters = nil
	if g.listSoon || len(g.nextWaiters) > 0 {
		g.startList(ctx)
	} else {
		g.timer.Reset(pause)
	}
}

// applyList updates the records from a list: pods that have changed are inspected, the observations
// of unchanged pods become as new as the list, and pods that are gone are removed.
func (g *Generator) applyList(ctx context.Context, l list) {
	g.round++
	followed := g.stream.trusted
	g.trustStream(l.at)
	g.unchanged = slices.Grow(g.unchanged[:0], len(l.pods))[:len(l.pods)]
	for i := range l.pods {
		p := &l.pods[i]
		rec := g.record(p.UID)
		rec.name, rec.namespace, rec.round = p.Name, p.Namespace, g.round
		rec.listAt = l.at
		if !rec.current.match(p) {
			rec.current = statesOf(p)
		}
		due := rec.needsInspection()
		g.unchanged[i] = !due && !rec.asOf.After(l.at)
		if due && !rec.inFlight && !rec.queued {
			if followed && !rec.eventPending && !rec.asOf.After(l.at) {
				g.suspectStream(p.UID, rec)
			}
			g.inspect(ctx, p.UID, rec, inspectRequest{})
		}
	}
	if len(g.records) > len(l.pods) {
		g.removeGone(ctx, l.at)
	}
	g.cfg.Cache.setList(l.pods, g.unchanged, l.at)
	g.listedAt.Store(&l.at) // Healthy succeeds only after this
}

// removeGone removes the pods that are not in the last list. If a pod was inspected after the list
// was begun, the list proves nothing about it, and it is inspected again.
func (g *Generator) removeGone(ctx context.Context, at time.Time) {
	for uid, rec := range g.records {
		switch {
		case rec.round == g.round:
		case !rec.asOf.After(at):
			g.removePod(uid, rec)
		case !rec.inFlight && len(rec.old) > 0:
			g.inspect(ctx, uid, rec, inspectRequest{})
		}
	}
}
