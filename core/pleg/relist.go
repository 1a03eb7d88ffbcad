package pleg

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// list is the answer to a full list.
type list struct {
	at   time.Time
	pods []status.ObservedPod
	err  error
}

// startList begins a full list unless one is under way.
func (g *Generator) startList(ctx context.Context) {
	if g.listing {
		return
	}
	g.listing = true
	g.serving, g.queued = g.queued, nil
	at := g.cfg.Now()
	g.running.Go(func() {
		pods, err := g.cfg.Runtime.ListPods(ctx)
		select {
		case g.lists <- list{at: at, pods: pods, err: err}:
		case <-ctx.Done():
		}
	})
}

// finishList takes in a full list and answers who waits for it.
func (g *Generator) finishList(ctx context.Context, l list) {
	g.listing = false
	if l.err != nil {
		l.err = fmt.Errorf("listing the pods of the runtime: %w", l.err)
		if len(g.serving) == 0 && g.listErr.isNews(l.err, g.cfg.Now()) {
			g.cfg.Logger.Error("pod list failed", "err", l.err)
		}
	} else {
		g.listErr = loggedError{}
		g.take(ctx, l)
	}
	for _, reply := range g.serving {
		reply <- l.err
	}
	g.serving = nil
}

// take brings the records up to a list: pods that have changed are inspected,
// pods that have not are as new as the list, pods that are gone are dropped.
func (g *Generator) take(ctx context.Context, l list) {
	g.listedAt.Store(&l.at)
	present := make(map[types.UID]bool, len(l.pods))
	for i := range l.pods {
		p := &l.pods[i]
		present[p.UID] = true
		rec := g.record(p.UID)
		rec.name = p.Namespace + "/" + p.Name
		rec.current, rec.listAt = statesOf(p), l.at
	}
	for uid, rec := range g.records {
		switch {
		case rec.asOf.After(l.at): // the inspection knows better
		case !present[uid]:
			g.drop(uid, rec)
		case rec.failed || rec.old == nil || len(diff(uid, rec.old, rec.current)) > 0:
			if !rec.inFlight {
				g.inspect(ctx, uid, rec)
			}
		default:
			g.cfg.Cache.SetObserved(uid, l.at)
		}
	}
	g.cfg.Cache.SetList(l.pods, l.at)
}

// drop takes a pod as gone.
func (g *Generator) drop(uid types.UID, rec *record) {
	g.cfg.Cache.Delete(uid)
	g.deliver(diff(uid, rec.old, nil))
	rec.old, rec.current, rec.failed, rec.again = nil, nil, false, false
	if rec.inFlight {
		rec.stale = true
		rec.cancel()
		return
	}
	delete(g.records, uid)
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

// loggedError keeps an error that comes every second from filling the log.
type loggedError struct {
	text string
	at   time.Time
}

// isNews reports whether err is to be logged: it is another one than before,
// or a minute has passed.
func (l *loggedError) isNews(err error, now time.Time) bool {
	if l.text == err.Error() && now.Sub(l.at) < time.Minute {
		return false
	}
	l.text, l.at = err.Error(), now
	return true
}
