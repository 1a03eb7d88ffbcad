package pleg

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// want is that a pod be inspected.
type want struct {
	// newer is the time the inspection has to be newer than, asked that somebody
	// asked for it.
	newer time.Time
	asked bool
	// event is true where the runtime told of a change, told when the first
	// such change was, zero where that does not count.
	event bool
	told  time.Time
	// later is true where a look a moment later is enough, leaving where one
	// then is needed too.
	later, leaving bool
}

// wants are the pods to be inspected. Anybody adds, without ever having to
// wait; Run takes. There is one for each pod, so nothing has to be dropped.
type wants struct {
	mu    sync.Mutex
	byUID map[types.UID]want
	// byID are those of which only the ID of a container is known.
	byID map[string]want
	// wake has room for one word; nobody closes it.
	wake chan struct{}
}

func newWants() *wants {
	return &wants{byUID: map[types.UID]want{}, byID: map[string]want{}, wake: make(chan struct{}, 1)}
}

// inspection asks for one that is newer than t.
func (w *wants) inspection(uid types.UID, t time.Time) {
	w.mu.Lock()
	w.byUID[uid] = w.byUID[uid].and(want{newer: t, asked: true})
	w.mu.Unlock()
	w.ring()
}

// change takes in what the runtime tells, now.
func (w *wants) change(c status.PodChange, now time.Time) {
	more := want{
		newer: now, event: true, told: c.At,
		later: c.Kind == status.ChangeMade, leaving: c.Kind == status.ChangeLeaving,
	}
	w.mu.Lock()
	if c.UID != "" {
		w.byUID[c.UID] = w.byUID[c.UID].and(more)
	} else {
		w.byID[c.ID] = w.byID[c.ID].and(more)
	}
	w.mu.Unlock()
	w.ring()
}

func (w *wants) ring() {
	select {
	case w.wake <- struct{}{}:
	default: // it has been told
	}
}

// take empties it.
func (w *wants) take() (byUID map[types.UID]want, byID map[string]want) {
	w.mu.Lock()
	defer w.mu.Unlock()
	byUID, byID = w.byUID, w.byID
	w.byUID, w.byID = map[types.UID]want{}, map[string]want{}
	return byUID, byID
}

// and is both. The zero want is none.
func (w want) and(o want) want {
	if w == (want{}) {
		return o
	}
	return want{
		newer: later(w.newer, o.newer), asked: w.asked || o.asked, event: w.event || o.event, told: earlier(w.told, o.told),
		later: w.later && o.later, leaving: w.leaving || o.leaving,
	}
}

// looks are the pods to be looked at again although nobody asks: where an
// inspection has failed, where a state has to settle, and where the runtime
// tells of a change before it shows. They take the place of the lists that
// came every second, and are kept only while events are relied on.
type looks struct {
	due   map[types.UID]look
	timer *time.Timer
	next  time.Time // when timer fires; zero: it does not
}

type look struct {
	at time.Time
	// firm is true where an inspection before that does not do.
	firm bool
	// begun is true where an inspection has begun since the look was asked for: one
	// that was under way already does not do.
	begun bool
}

func newLooks() *looks {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	return &looks{due: map[types.UID]look{}, timer: timer}
}

// add has a pod looked at no later than at, or not before that where it is firm.
func (l *looks) add(uid types.UID, at, now time.Time, firm bool) {
	switch before, ok := l.due[uid]; {
	case ok && before.firm && !firm:
		at, firm = before.at, true
	case ok && !firm:
		at = earlier(before.at, at)
	}
	l.due[uid] = look{at: at, firm: firm}
	if l.next.IsZero() || at.Before(l.next) {
		l.next = at
		l.timer.Reset(at.Sub(now))
	}
}

// begun says that an inspection has begun.
func (l *looks) begun(uid types.UID) {
	if k, ok := l.due[uid]; ok {
		k.begun = true
		l.due[uid] = k
	}
}

// settled takes a look back that an inspection has made needless.
func (l *looks) settled(uid types.UID) {
	if k := l.due[uid]; k.begun && !k.firm {
		delete(l.due, uid)
	}
}

// waits reports whether a pod is to be looked at again.
func (l *looks) waits(uid types.UID) bool {
	_, ok := l.due[uid]
	return ok
}

func (l *looks) forget(uid types.UID) { delete(l.due, uid) }

func (l *looks) forgetAll() {
	clear(l.due)
	l.timer.Stop()
	l.next = time.Time{}
}

// take gives the pods whose time has come.
func (l *looks) take(now time.Time) (uids []types.UID) {
	l.next = time.Time{}
	for uid, k := range l.due {
		if !k.at.After(now) {
			uids = append(uids, uid)
			delete(l.due, uid)
			continue
		}
		l.next = earlier(l.next, k.at)
	}
	if !l.next.IsZero() {
		l.timer.Reset(l.next.Sub(now))
	}
	return uids
}

func (g *Generator) lookAgain(ctx context.Context) {
	for _, uid := range g.looks.take(g.cfg.Now()) {
		if rec, ok := g.records[uid]; ok {
			g.inspect(ctx, uid, rec, want{})
		}
	}
}

// lookLater has a pod looked at again where its last inspection was not the
// last word.
func (g *Generator) lookLater(uid types.UID, rec *record) {
	if !g.stream.trusted {
		return
	}
	now := g.cfg.Now()
	switch {
	case rec.failed:
		g.looks.add(uid, now.Add(g.cfg.Period), now, false)
	case rec.old.unsettled():
		rec.pause = min(max(2*rec.pause, g.cfg.Period), g.cfg.SafetyPeriod)
		g.looks.add(uid, now.Add(rec.pause), now, false)
	default:
		rec.pause = 0
		g.looks.settled(uid)
	}
}
