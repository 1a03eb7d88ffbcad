package simulation

import (
	"context"
	"errors"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/worker"
)

// link binds one life of the agent to the world. All calls of the agent go through
// it, and no call has any effect once that life has ended.
type link struct {
	world *world
	// gone is closed when the agent is killed.
	gone chan struct{}
	pool *worker.Pool

	// The world's lock guards the fields below. dead is true from the end of this life
	// on. endings are the pods that were asked to terminate. after names, for a pod, the pod
	// that it replaces.
	dead    bool
	endings map[types.UID]*ending
	after   map[types.UID]types.UID
	// killing is since when pods that terminate are being stopped. hooking is how many containers
	// of a pod have started but not completed their postStart hook. preStopped are the containers
	// whose preStop hook was started.
	killing    map[types.UID]time.Time
	hooking    map[types.UID]int
	preStopped map[string]bool
}

// Errors that calls to the world return.
var (
	errGone    = errors.New("the agent was killed")
	errTrouble = errors.New("the runtime has failed")
	errTaken   = errors.New("name is reserved")
)

// ended reports whether this life of the agent has ended. mu is held.
func (l *link) ended() bool { return l.dead }

// sleep waits for d, or until ctx is done or the agent is killed.
func (l *link) sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-l.gone:
		return errGone
	}
}

// call is a kind of call to the runtime or to another slow part of the world.
type call string

const (
	callList    call = "list"
	callInspect call = "inspect"
	callSandbox call = "run-sandbox"
	callStart   call = "start"
	callStop    call = "stop"
	callEnd     call = "stop-sandbox"
	callRemove  call = "remove"
	callImage   call = "image"
	callSetup   call = "setup"
	callCleanUp call = "clean-up"
	callDisk    call = "disk"
	callWatch   call = "watch"
)

var calls = []call{callList, callInspect, callSandbox, callStart, callStop, callEnd, callRemove, callImage, callSetup, callCleanUp, callDisk, callWatch}

// usually is how long calls take without trouble.
var usually = map[call]time.Duration{
	callList: 15 * time.Millisecond, callInspect: 10 * time.Millisecond, callSandbox: 200 * time.Millisecond,
	callStart: 100 * time.Millisecond, callStop: 10 * time.Millisecond, callEnd: 50 * time.Millisecond,
	callRemove: 20 * time.Millisecond, callImage: 5 * time.Millisecond, callSetup: 5 * time.Millisecond,
	callCleanUp: 5 * time.Millisecond, callDisk: time.Millisecond, callWatch: 5 * time.Millisecond,
	callHandler: 20 * time.Millisecond,
}

// trouble is how calls of a kind fail, and until when.
type trouble struct {
	how   action
	until time.Time
	// uid is the pod whose calls fail, empty for all pods.
	uid types.UID
}

// plan returns how long a call takes, and its error. mu is held.
func (w *world) plan(kind call, uid types.UID) (d time.Duration, err error) {
	what := string(kind) + " " + string(uid)
	d = w.between(what, usually[kind]/10, usually[kind]*2)
	if w.draw(what+" late")%25 == 0 {
		d += w.between(what, 0, 3*time.Second)
	}
	now := time.Now()
	if kind != callDisk && now.Before(w.runtime.down) {
		return d, errTrouble
	}
	t, ok := w.runtime.troubles[kind]
	if !ok || !now.Before(t.until) || t.uid != "" && uid != "" && t.uid != uid {
		return d, nil
	}
	switch t.how {
	case slow:
		if kind == callDisk {
			return d + w.between(what, 0, time.Second), nil
		}
		return d + w.between(what, time.Second, 15*time.Second), nil
	case hang:
		if kind == callDisk {
			return d, nil
		}
		return d + t.until.Sub(now), nil
	}
	return d, errTrouble
}

// pass waits as long as the call takes, and returns its error.
func (l *link) pass(ctx context.Context, kind call, uid types.UID) error {
	l.world.mu.Lock()
	d, trouble := l.world.plan(kind, uid)
	l.world.mu.Unlock()
	if err := l.sleep(ctx, d); err != nil {
		return err
	}
	return trouble
}

// effect makes a call that creates something. A call that fails may have its effect
// nevertheless, and a call that is interrupted may have it a little later.
func (l *link) effect(ctx context.Context, kind call, uid types.UID, undo func(), do func() (string, error)) (string, error) {
	w := l.world
	err := l.pass(ctx, kind, uid)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		return do()
	}
	w.note("%s of %s fails: %v", kind, uid, err)
	switch n := w.draw(string(kind)+" lost "+string(uid)) % 3; {
	case n == 0:
		undo()
	case n == 1 || errors.Is(err, errTrouble):
		_, _ = do()
	default:
		d := w.between("late "+string(uid), 0, 800*time.Millisecond)
		w.late.Go(func() {
			time.Sleep(d)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.note("late %s of %s", kind, uid)
			_, _ = do()
		})
	}
	return "", err
}

// requests are the workers as the sync loop has them. The requests of the sync loop are
// recorded, to check what the workers do against them.
type requests struct {
	*worker.Pool
	link *link
}

// ending is a pod that was asked to terminate.
type ending struct {
	// grace is the shortest grace period requested, in seconds, and since is when it was requested.
	grace int64
	since time.Time
	// again: the pod is to come back afterwards. Later requests are about its next life.
	again bool
	// pod is the version of the pod that the agent terminates. What runs may be of an earlier
	// version.
	pod *v1.Pod
}

// Submit forwards a request, and records it when the worker has it: the worker acts on this
// request from then on.
func (r *requests) Submit(q worker.Request) {
	leaves := q.Replaces != "" && r.TerminationRequested(q.Replaces)
	r.Pool.Submit(q)
	w, l := r.link.world, r.link
	w.mu.Lock()
	defer w.mu.Unlock()
	if q.Pod == nil {
		return
	}
	uid := q.Pod.UID
	w.note("request %d for %s", q.Kind, uid)
	if q.Kind == worker.Create {
		if e := l.endings[uid]; e != nil {
			e.again = true
			return
		}
		if leaves && q.Replaces != uid { // a pod that is itself wanted is not waited for
			l.after[uid] = q.Replaces
		}
	}
	if q.Kind != worker.Kill && q.Pod.DeletionTimestamp == nil {
		return
	}
	e := l.endings[uid]
	if e == nil {
		e = &ending{grace: max(*q.Pod.Spec.TerminationGracePeriodSeconds, 1), pod: q.Pod}
		if q.Pod.DeletionGracePeriodSeconds != nil {
			e.grace = max(*q.Pod.DeletionGracePeriodSeconds, 1)
		}
		l.endings[uid] = e
	} else if q.Pod.DeletionGracePeriodSeconds != nil {
		e.shorten(*q.Pod.DeletionGracePeriodSeconds)
	}
	if q.Kill != nil && q.Kill.Grace != nil {
		e.shorten(*q.Kill.Grace)
	}
}

// Recreate forwards that a pod is to come back, and records it.
func (r *requests) Recreate(uid types.UID) bool {
	returns := r.Pool.Recreate(uid)
	l := r.link
	l.world.mu.Lock()
	defer l.world.mu.Unlock()
	if e := l.endings[uid]; returns && e != nil {
		l.world.note("%s is to come back", uid)
		e.again = true
	}
	return returns
}

// shorten applies a grace period that was requested later. A grace period is never extended.
func (e *ending) shorten(seconds int64) {
	if seconds = max(seconds, 1); seconds < e.grace && !e.again {
		e.grace, e.since = seconds, time.Now()
	}
}

// left records that a worker is gone. It is called with the pool locked.
func (l *link) left(uid types.UID) {
	l.world.mu.Lock()
	defer l.world.mu.Unlock()
	delete(l.endings, uid)
	delete(l.after, uid)
	delete(l.killing, uid)
}
