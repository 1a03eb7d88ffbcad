package pleg

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/status"
)

// list is the answer to a full list.
type list struct {
	at   time.Time
	pods []status.ObservedPod
	err  error
}

// Relist makes a full list that is begun after the call, and waits until the
// cache has it; inspections that follow from it may still be under way. It
// fails with the error of the runtime or of ctx, and needs Run.
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
	g.serving, g.queued = g.queued, nil
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

// finishList takes in a full list, answers who waits for it and sees to it
// that the next one comes.
func (g *Generator) finishList(ctx context.Context, l list) {
	g.listing = false
	pause := g.cfg.Period
	if l.err != nil {
		l.err = fmt.Errorf("listing the pods of the runtime: %w", l.err)
		g.listFault.Store(&l.err)
		if len(g.serving) == 0 && g.listErr.Due("", l.err.Error(), g.cfg.Now()) {
			g.cfg.Logger.Error("pod list failed", "err", l.err)
		}
	} else {
		if g.listErr.Over() {
			g.cfg.Logger.Info("pods are listed again")
		}
		g.take(ctx, l)
		g.listFault.Store(nil)
		if g.stream.trusted {
			pause = g.cfg.SafetyPeriod
		}
	}
	g.cfg.Observer.Relisted(g.cfg.Now().Sub(l.at))
	for _, reply := range g.serving {
		reply <- l.err
	}
	g.serving = nil
	if g.listSoon || len(g.queued) > 0 {
		g.startList(ctx)
	} else {
		g.timer.Reset(pause)
	}
}

// take brings the records up to a list: pods that have changed are inspected,
// pods that have not are as new as the list, pods that are gone are dropped.
func (g *Generator) take(ctx context.Context, l list) {
	g.round++
	followed := g.stream.trusted
	g.trust(l.at)
	g.held = slices.Grow(g.held[:0], len(l.pods))[:len(l.pods)]
	for i := range l.pods {
		p := &l.pods[i]
		rec := g.record(p.UID)
		rec.name, rec.namespace, rec.round = p.Name, p.Namespace, g.round
		rec.listAt = l.at
		if !rec.current.are(p) {
			rec.current = statesOf(p)
		}
		due := rec.due()
		g.held[i] = !due && !rec.asOf.After(l.at)
		if due && !rec.inFlight && !rec.queued {
			if followed && !rec.promised && !rec.asOf.After(l.at) {
				g.suspect(p.UID, rec)
			}
			g.inspect(ctx, p.UID, rec, want{})
		}
	}
	if len(g.records) > len(l.pods) {
		g.takeGone(ctx, l.at)
	}
	g.cfg.Cache.setList(l.pods, g.held, l.at)
	g.listedAt.Store(&l.at) // who is told that all is well finds the list
}

// takeGone drops the pods that the last list does not have. Of one that was
// inspected after the list was begun it says nothing: that one is looked at.
func (g *Generator) takeGone(ctx context.Context, at time.Time) {
	for uid, rec := range g.records {
		switch {
		case rec.round == g.round:
		case !rec.asOf.After(at):
			g.drop(uid, rec)
		case !rec.inFlight && len(rec.old) > 0:
			g.inspect(ctx, uid, rec, want{})
		}
	}
}
