package pleg

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/internal/backoff"
	"github.com/wardlet/wardlet/core/status"
)

// streamDelays are the delays after which a lost stream is opened again. They start again once a
// stream has lasted for stableAfter.
var streamDelays = backoff.Exponential{Min: time.Second, Max: time.Minute}

// stableAfter is how long a stream has to last until the delays start again from the shortest.
const stableAfter = 2 * time.Minute

// errSilent is the error of a stream that is closed because it did not report a change.
var errSilent = errors.New("it sent no events of containers that started or ended")

// stream holds what Run knows about the runtime's event stream.
type stream struct {
	// cancel closes the stream; nil while there is none.
	cancel context.CancelCauseFunc
	opened time.Time
	// trusted is true if no event is missed: the stream has settled, and a list begun after that
	// has found what happened before.
	trusted bool
	// suspects are pods that a list has shown to have changed without an event.
	suspects map[types.UID]bool
	// alsoDelayed are the pods to be inspected again a moment later because of events that arrived
	// before the stream was trusted.
	alsoDelayed map[types.UID]bool
}

// streamChange reports that a stream was opened (cancel) or has broken (err).
type streamChange struct {
	cancel context.CancelCauseFunc
	err    error
}

// watch follows the runtime's events until ctx is done.
func (g *Generator) watch(ctx context.Context) {
	pause := streamDelays.Min
	for {
		held, err := g.watchOnce(ctx)
		if held {
			pause = streamDelays.Min
		}
		if errors.Is(err, status.ErrNoEvents) {
			pause = streamDelays.Max
		}
		g.sendStreamChange(ctx, streamChange{err: err})
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		pause = streamDelays.Next(pause)
	}
}

// watchOnce follows one stream until it breaks, and reports whether it lasted for stableAfter.
func (g *Generator) watchOnce(ctx context.Context) (held bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var opened time.Time
	err = g.cfg.Runtime.WatchPods(ctx, func() {
		opened = g.cfg.Now()
		g.sendStreamChange(ctx, streamChange{cancel: cancel})
	}, func(c status.PodChange) {
		now := g.cfg.Now()
		c.At = eventTime(c.At, now, now.Sub(opened))
		g.requests.addEvent(c, now)
	})
	if errors.Is(context.Cause(ctx), errSilent) {
		return false, errSilent
	}
	return !opened.IsZero() && g.cfg.Now().Sub(opened) >= stableAfter, err
}

func (g *Generator) sendStreamChange(ctx context.Context, n streamChange) {
	select {
	case g.streamChanges <- n:
	case <-ctx.Done():
	}
}

// handleStreamChange handles a stream that was opened or has broken.
func (g *Generator) handleStreamChange(ctx context.Context, n streamChange) {
	if n.cancel != nil {
		g.stream = stream{cancel: n.cancel, opened: g.cfg.Now(), suspects: map[types.UID]bool{}}
		return
	}
	g.loseStream(ctx, n.err)
}

// trustStream marks the stream as trusted if the list at listAt was begun after the stream had
// settled.
func (g *Generator) trustStream(listAt time.Time) {
	s := &g.stream
	if s.trusted || s.cancel == nil || listAt.Before(s.opened.Add(g.cfg.SettleTime)) {
		return
	}
	s.trusted = true
	g.streaming.Store(true)
	g.cfg.Observer.StreamUp(true)
	g.streamErr.Over()
	g.cfg.Logger.Info("following the runtime's events", "listPeriod", g.cfg.SafetyPeriod)
	now := g.cfg.Now()
	for uid, rec := range g.records {
		if rec.failed || rec.old.unsettled() {
			g.delayInspection(uid, rec)
		}
		if s.alsoDelayed[uid] {
			g.delayed.add(uid, now.Add(g.cfg.Period), now, true)
		}
	}
	s.alsoDelayed = nil
}

// delayAlso records that a pod has to be inspected once more when lists are no longer made every
// second.
func (s *stream) delayAlso(uid types.UID) {
	if s.alsoDelayed == nil {
		s.alsoDelayed = map[types.UID]bool{}
	}
	s.alsoDelayed[uid] = true
}

// loseStream returns to frequent lists, and begins one now.
func (g *Generator) loseStream(ctx context.Context, err error) {
	was := g.stream.trusted
	g.stream = stream{}
	switch {
	case errors.Is(err, status.ErrNoEvents) && !was:
		if !g.noEventsLogged {
			g.cfg.Logger.Info("the runtime sends no events", "listPeriod", g.cfg.Period)
		}
		g.noEventsLogged = true
	case g.streamErr.Due("", err.Error(), g.cfg.Now()) || was:
		g.cfg.Logger.Warn("the runtime's event stream broke", "err", err, "listPeriod", g.cfg.Period)
	}
	if !was {
		return
	}
	g.streaming.Store(false)
	g.cfg.Observer.StreamUp(false)
	g.delayed.clear()
	g.suspectTimer.Stop()
	g.listSoon = g.listing
	g.startList(ctx)
}

// suspectStream records that a list has shown a change of a pod without an event. The event may
// still arrive.
func (g *Generator) suspectStream(uid types.UID, rec *record) {
	for _, e := range diff(uid, rec.old, rec.current) {
		if e.Type != ContainerStarted && e.Type != ContainerDied || !rec.current.has(e.ContainerID) {
			continue
		}
		if len(g.stream.suspects) == 0 {
			g.suspectTimer.Reset(g.cfg.Period)
		}
		g.stream.suspects[uid] = true
		return
	}
}

// dropSilentStream closes a stream if an event is still missing.
func (g *Generator) dropSilentStream(ctx context.Context) {
	if !g.stream.trusted || len(g.stream.suspects) == 0 {
		return
	}
	g.stream.cancel(errSilent)
	g.loseStream(ctx, errSilent)
}

// maxLag is the age of an event up to which its lag is measured.
const maxLag = time.Minute

// eventTime returns the time of a change that the runtime dates at and that was received at
// received, when events had been followed for followed. The runtime uses the wall clock, which may
// be set at any time; the result carries the monotonic reading of received, and is not later than
// received. It is zero if no lag can be measured: at is unknown, it is more than a minute before
// received, or it is from before events were followed, because the runtime kept the event for the
// first reader.
func eventTime(at, received time.Time, followed time.Duration) time.Time {
	age := max(0, received.Round(0).Sub(at))
	if at.IsZero() || age > min(followed, maxLag) {
		return time.Time{}
	}
	return received.Add(-age)
}
