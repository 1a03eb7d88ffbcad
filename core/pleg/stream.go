package pleg

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/internal/backoff"
	"github.com/wardlet/wardlet/core/status"
)

// streamDelays is after how long a stream that was lost is tried again, until one has
// held for stableAfter.
var streamDelays = backoff.Exponential{Min: time.Second, Max: time.Minute}

// stableAfter is how long a stream has to hold until delays start anew.
const stableAfter = 2 * time.Minute

// errSilent is why a stream is given up that did not tell of a change.
var errSilent = errors.New("it sent no events of containers that started or ended")

// stream is what Run knows of the runtime's events.
type stream struct {
	// cancel ends the stream; nil while there is none.
	cancel context.CancelCauseFunc
	opened time.Time
	// trusted says that nothing is missed: the stream has settled, and a list
	// begun after that has closed the gap.
	trusted bool
	// suspects are pods that a list has shown to have changed without an event.
	suspects map[types.UID]bool
	// alsoDelayed are pods that are to be inspected a moment later, of which the
	// stream told before it was trusted.
	alsoDelayed map[types.UID]bool
}

// streamChange is that a stream was opened (cancel), or has ended (err).
type streamChange struct {
	cancel context.CancelCauseFunc
	err    error
}

// watch follows the runtime's events as long as ctx lasts.
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

// watchOnce follows one stream to its end, and reports whether it has held.
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

// handleStreamChange handles that a stream was opened or has ended.
func (g *Generator) handleStreamChange(ctx context.Context, n streamChange) {
	if n.cancel != nil {
		g.stream = stream{cancel: n.cancel, opened: g.cfg.Now(), suspects: map[types.UID]bool{}}
		return
	}
	g.loseStream(ctx, n.err)
}

// trustStream relies on the stream from the first list on that closes the gap.
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

// delayAlso records that a pod is to be inspected once more when lists do not come
// every second any more.
func (s *stream) delayAlso(uid types.UID) {
	if s.alsoDelayed == nil {
		s.alsoDelayed = map[types.UID]bool{}
	}
	s.alsoDelayed[uid] = true
}

// loseStream goes back to frequent lists, beginning with one now.
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

// suspectStream records that a list has shown a pod to have changed. The event may
// still be on its way.
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

// dropSilentStream closes a stream from which an event is still missing.
func (g *Generator) dropSilentStream(ctx context.Context) {
	if !g.stream.trusted || len(g.stream.suspects) == 0 {
		return
	}
	g.stream.cancel(errSilent)
	g.loseStream(ctx, errSilent)
}

// maxLag is how long an event may have been on its way for its lag to be measured.
const maxLag = time.Minute

// eventTime returns when a change was of which the runtime says that it was at at, and
// which was received after events had been followed for some time. The runtime has the
// wall clock, which may be set at any time; the answer carries the monotonic reading
// of received, and is not later. It is zero, for no lag to be measured, where that is
// not known, where it is more than a minute before received, and where it is before
// events were followed: the runtime kept that one for the first reader.
func eventTime(at, received time.Time, followed time.Duration) time.Time {
	age := max(0, received.Round(0).Sub(at))
	if at.IsZero() || age > min(followed, maxLag) {
		return time.Time{}
	}
	return received.Add(-age)
}
