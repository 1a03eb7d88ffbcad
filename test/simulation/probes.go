package simulation

import (
	"context"
	"errors"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/handler"
	"github.com/wardlet/wardlet/core/pod"
)

// health says when a container is started, ready and alive, by the time since it began to run.
type health struct {
	// startsAfter is when it has started, readyAfter when it is ready.
	startsAfter, readyAfter time.Duration
	// ails is when its liveness probe fails, away when its readiness probe does.
	ails, away spell
}

// spell is a time in which a probe fails.
type spell struct{ from, to time.Duration }

func (s spell) has(age time.Duration) bool { return s.from <= age && age < s.to }

// finding is the result of a container's probes of one kind. ok is the last result that reached
// its threshold, at is when that was, zero for never. doubt: the agent may not have stored the
// result.
type finding struct {
	ok, doubt bool
	at        time.Time
	// of is the life of the agent whose probes reached the result. by is the life that probed
	// last, last is what its probe found, and row is how often in a row.
	of, by *link
	last   bool
	row    int32
}

// add records one more probe result.
func (f *finding) add(l *link, ok bool, probe *v1.Probe) {
	if f.by != l || f.last != ok {
		f.by, f.last, f.row = l, ok, 0
	}
	threshold := probe.FailureThreshold
	if ok {
		threshold = probe.SuccessThreshold
	}
	if f.row++; f.row >= threshold {
		f.ok, f.at, f.of, f.doubt = ok, time.Now(), l, false
	}
}

// condemned reports whether there is a reason to stop a container although its pod goes on: a
// probe or its postStart hook has failed.
func (c *container) condemned() bool {
	return c.hookFailed || !c.lives.at.IsZero() && !c.lives.ok || !c.started.at.IsZero() && !c.started.ok
}

// newHealth returns the health of a container that begins to run now. mu is held.
func (w *world) newHealth(c *container) (h health) {
	what := "health " + string(c.uid) + c.name
	h.startsAfter, h.readyAfter = w.between(what, 0, 5*time.Second), w.between(what, 0, 5*time.Second)
	if w.draw(what)%8 == 0 {
		h.startsAfter = time.Hour
	}
	if w.draw(what)%3 == 0 {
		h.ails.from = w.between(what, 2*time.Second, 40*time.Second)
		h.ails.to = h.ails.from + w.between(what, time.Second, 20*time.Second)
	}
	if w.draw(what)%2 == 0 {
		h.away.from = w.between(what, time.Second, 30*time.Second)
		h.away.to = h.away.from + w.between(what, time.Second, 15*time.Second)
	}
	return h
}

// callHandler is a probe or a hook. No step makes it fail.
const callHandler call = "handler"

var errHandler = errors.New("the handler cannot be carried out")

// handlers are a link that runs probes and hooks.
type handlers struct{ *link }

// Probe implements probe.Runner. Its result depends only on the age of the container. Once
// everything is repaired, the probe succeeds.
func (h handlers) Probe(ctx context.Context, to handler.Target, probe *v1.Probe) (handler.Outcome, error) {
	w := h.world
	if err := h.pass(ctx, callHandler, w.podOf(to.ID)); err != nil {
		return handler.Outcome{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.runtime.containers[to.ID]
	if c == nil || !c.running() || h.dead || ctx.Err() != nil || !w.policy.relaxed && w.draw("handler "+string(c.uid))%20 == 0 {
		return handler.Outcome{}, errHandler
	}
	age, ok := time.Since(c.since), w.policy.relaxed
	if c.startup != nil && probe != to.Container.StartupProbe && !c.started.ok && !c.started.doubt && !named(c.uid) {
		w.violated("container %v is probed before it has started", c)
	}
	switch probe {
	case to.Container.StartupProbe:
		ok = ok || age >= c.health.startsAfter
		c.started.add(h.link, ok, probe)
		c.sandbox.turns.started[c.name] = c.sandbox.turns.started[c.name] || ok
	case to.Container.LivenessProbe:
		ok = ok || !c.health.ails.has(age)
		c.lives.add(h.link, ok, probe)
	default:
		ok = ok || age >= c.health.readyAfter && !c.health.away.has(age)
		c.ready.add(h.link, ok, probe)
	}
	w.note("probe of %v: %t, started %t ready %t condemned %t", c, ok, c.started.ok, c.ready.ok, c.condemned())
	return handler.Outcome{OK: ok, Message: "as it is"}, nil
}

// Hook implements worker.Hooks. Some hooks fail, and some take longer than the pod's grace period.
func (h handlers) Hook(ctx context.Context, to handler.Target, hook *v1.LifecycleHandler) error {
	w := h.world
	w.mu.Lock()
	c, first := w.runtime.containers[to.ID], to.Container.Lifecycle.PostStart == hook
	if c == nil {
		w.mu.Unlock()
		return errHandler
	}
	w.note("hook of %v, first %t", c, first)
	takes := w.between("hook "+string(c.uid), 5*time.Millisecond, time.Second)
	if w.draw("hook "+string(c.uid))%10 == 0 {
		takes = w.between("hook "+string(c.uid), time.Second, 15*time.Second)
	}
	fails := w.draw("hook "+string(c.uid))%6 == 0
	if !first {
		h.preStopped[c.id] = true
		if h.endings[c.uid] != nil {
			h.killed(c.uid)
		}
	}
	w.mu.Unlock()
	err := h.sleep(ctx, takes)
	w.mu.Lock()
	defer w.mu.Unlock()
	if first {
		h.hooking[c.uid]--
	}
	if err == nil && fails {
		err = errHandler
		c.hookFailed = c.hookFailed || first
	}
	return err
}

// mayStopUnhooked checks that the preStop hook of a container was started before the container
// is stopped. A pod that only the runtime has gets no hooks, and one second to terminate. A
// container whose hook has run gets at least two seconds. mu is held.
func (w *world) mayStopUnhooked(l *link, c *container, grace time.Duration, ending bool) {
	if c.preStop && grace > time.Second && !l.preStopped[c.id] && !named(c.uid) && (!ending || l.endings[c.uid] != nil) {
		w.violated("container %v is stopped without its hook", c)
	}
}

// doubt records that the agent ends now: the newest probe results may not have been stored. mu is
// held.
func (w *world) doubt() {
	for _, c := range w.runtime.containers {
		for _, f := range []*finding{&c.started, &c.ready} {
			f.doubt = f.doubt || f.at.Equal(time.Now())
		}
	}
}

// misreported names a container that the agent wrongly shows as started or ready, or wrongly as
// not started or not ready, empty for none.
func (w *world) misreported(a *agent) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.runtime.containers {
		sub := w.subjects[c.uid]
		if c.foreign || !c.running() || !c.watched() || a.stopping || sub == nil || sub.newest == nil || sub.contested || named(c.uid) {
			continue
		}
		st := a.status(c.uid)
		own := pod.ContainerStatus(&st, c.name)
		if own == nil || own.State.Running == nil || !strings.HasSuffix(own.ContainerID, "://"+c.id) || own.Started == nil {
			continue
		}
		started, ready := c.startup == nil || c.started.ok, c.readiness == nil || c.ready.ok
		for _, f := range []*finding{&c.started, &c.ready} {
			if f.doubt || f.of != nil && f.of != a.link && w.lapsed(c.uid, c.lapses) {
				started = *own.Started // any value in the status is accepted
				ready = own.Ready
			}
		}
		if is, want := [2]bool{*own.Started, own.Ready}, [2]bool{started, started && ready}; is != want {
			return "container " + c.String() + " is shown as " + words(is) + " and is " + words(want)
		}
	}
	return ""
}

// isWell reports whether the startup and readiness probes of a container have succeeded.
func (c *container) isWell() bool {
	return (c.startup == nil || c.started.ok) && (c.readiness == nil || c.ready.ok)
}

// watched reports whether a container has a probe that its status shows.
func (c *container) watched() bool { return c.startup != nil || c.readiness != nil }

func words(of [2]bool) string {
	text := "not started, "
	if of[0] {
		text = "started, "
	}
	if of[1] {
		return text + "ready"
	}
	return text + "not ready"
}
