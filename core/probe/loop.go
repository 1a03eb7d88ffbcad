package probe

import (
	"context"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/handler"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// loop is one probe of one container. Only its goroutine uses the fields other than cancel, nudged and
// counts.
type loop struct {
	manager *Manager
	uid     types.UID
	key     key
	cancel  context.CancelFunc
	nudged  chan struct{}

	// id is the container that was probed last. began is when it started.
	id    string
	began time.Time
	// looked is when the container was last looked up.
	looked time.Time
	// due is when the next step is due.
	due time.Time
	// held is true if the result is final for the container.
	held bool
	// last is the last result of the probe, and row is how many times in a row it occurred.
	last status.ProbeResult
	row  int

	counts counts
}

// waits is the result of a step.
type waits int

const (
	// ended: there is nothing more to probe.
	ended waits = iota
	// forContainer: the container does not exist, or has not come far enough. The next step comes
	// after the period, or after a nudge.
	forContainer
	// forPeriod: the next step comes after the period.
	forPeriod
)

// tries is how many times a probe is tried at once if it cannot be carried out.
const tries = 3

// grid is the time grid of all steps but the first of a container: steps that are due within one
// fifth of a second run together and wake the process once. So the first period of a container is
// up to 100 ms longer or shorter than the others.
const grid = 200 * time.Millisecond

// every runs the probe once per period.
func (l *loop) every(ctx context.Context, period time.Duration) {
	m := l.manager
	timer := time.NewTimer(period)
	defer timer.Stop()
	for again := true; ; {
		if again {
			l.due = m.started.Add((m.cfg.Now().Sub(m.started) + period).Round(grid))
		}
		next := l.step(ctx)
		if next == ended {
			return
		}
		for now := m.cfg.Now(); !l.due.After(now); { // a probe may take longer than its period
			l.due = l.due.Add(period)
		}
		timer.Reset(l.due.Sub(m.cfg.Now()))
		again = false
		for waits := true; waits; {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
				waits = false
				l.due = l.due.Add(period)
			case <-l.nudged:
				if next == forContainer || l.isAnother() {
					again, waits = true, false
				}
			}
		}
	}
}

// run probes until ctx is done or nothing is left to probe.
func (l *loop) run(ctx context.Context) {
	m := l.manager
	_, spec := l.spec(m.pod(l.uid))
	if spec == nil {
		return
	}
	period := time.Duration(max(spec.PeriodSeconds, 1)) * time.Second
	if m.cfg.Now().Sub(m.started) < period {
		timer := time.NewTimer(m.cfg.Spread(period))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
	}
	l.every(ctx, period)
}

// isAnother reports whether the container is another instance than the one that was probed last.
func (l *loop) isAnother() bool {
	st, _ := l.manager.cfg.Statuses.Get(l.uid)
	own := pod.ContainerStatus(&st, l.key.container)
	return own != nil && bare(own.ContainerID) != l.id
}

// spec returns the container and the probe, nil if the pod no longer has them.
func (l *loop) spec(p *v1.Pod) (*v1.Container, *v1.Probe) {
	if p == nil {
		return nil, nil
	}
	c, _ := pod.Container(p, l.key.container)
	if c == nil {
		return nil, nil
	}
	switch l.key.kind {
	case Startup:
		return c, c.StartupProbe
	case Liveness:
		return c, c.LivenessProbe
	default:
		return c, c.ReadinessProbe
	}
}

// step runs the probe once, if the container exists and has come far enough.
func (l *loop) step(ctx context.Context) waits {
	m := l.manager
	p := m.pod(l.uid)
	c, spec := l.spec(p)
	if spec == nil {
		return ended
	}
	looked := l.looked
	l.looked = m.cfg.Now()
	st, ok := m.cfg.Statuses.Get(l.uid)
	if ok && pod.IsTerminal(st.Phase) {
		return ended
	}
	own := pod.ContainerStatus(&st, l.key.container)
	if own == nil || own.ContainerID == "" {
		return forContainer
	}
	if id := bare(own.ContainerID); id != l.id {
		l.meet(id, own, looked)
	}
	switch started := own.Started != nil && *own.Started; {
	case l.held:
		return forContainer
	case own.State.Running == nil:
		return forContainer
	case p.DeletionTimestamp != nil && l.key.kind != Readiness:
		return ended
	case l.looked.Sub(l.began) < time.Duration(spec.InitialDelaySeconds)*time.Second:
		return forPeriod
	case started == (l.key.kind == Startup):
		return forContainer
	}
	if done, ok := m.turns.Take(ctx, m.payer(p)); ok {
		done = sync.OnceFunc(done)
		hangs := time.AfterFunc(longest, done)
		defer func() {
			hangs.Stop()
			done()
		}()
		l.probe(ctx, p, c, spec, handler.Target{Container: c, ID: l.id, IP: st.PodIP})
	}
	return forPeriod
}

// meet begins with a new container instance. Its start time is from the node's clock, which may
// jump. So the start is taken to be no earlier than the previous look-up, at which the instance did
// not exist.
func (l *loop) meet(id string, own *v1.ContainerStatus, looked time.Time) {
	if l.id != "" {
		l.manager.results.drop(l.id)
	}
	l.id, l.held, l.last, l.row, l.began = id, false, status.ProbeUnknown, 0, l.looked
	if own.State.Running == nil {
		return
	}
	age := max(l.looked.Sub(own.State.Running.StartedAt.Time), 0)
	if !looked.IsZero() {
		age = min(age, l.looked.Sub(looked))
	}
	l.began = l.looked.Add(-age)
}

// probe runs the probe and stores the result once it has occurred in a row often enough.
func (l *loop) probe(ctx context.Context, p *v1.Pod, c *v1.Container, spec *v1.Probe, to handler.Target) {
	m := l.manager
	var outcome handler.Outcome
	var err error
	began := m.cfg.Now()
	for range tries {
		if outcome, err = m.cfg.Runner.Probe(ctx, to, spec); err == nil || ctx.Err() != nil {
			break
		}
	}
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		// That the probe could not be carried out says nothing about the container.
		status.ContainerEvent(m.cfg.Events, p, c.Name, v1.EventTypeWarning, "Unhealthy", fmt.Sprintf("%s probe errored: %s", l.key.kind, err))
		return
	}
	result, threshold := status.ProbeSucceeded, max(spec.SuccessThreshold, 1)
	if !outcome.OK {
		result, threshold = status.ProbeFailed, max(spec.FailureThreshold, 1)
		status.ContainerEvent(m.cfg.Events, p, c.Name, v1.EventTypeWarning, "Unhealthy", fmt.Sprintf("%s probe failed: %s", l.key.kind, outcome.Message))
	}
	l.counts.add(outcome.OK, m.cfg.Now().Sub(began))
	if outcome.Warning {
		m.cfg.Events.Event(p, v1.EventTypeWarning, "ProbeWarning", fmt.Sprintf("%s probe warning: %s", l.key.kind, outcome.Message))
	}
	if l.last != result {
		l.last, l.row = result, 0
	}
	if l.row++; l.row < int(threshold) {
		return
	}
	if l.key.kind == Startup || l.key.kind == Liveness && result == status.ProbeFailed {
		l.held, l.row = true, 0
	}
	if !m.results.set(ctx, l.uid, l.id, l.key.kind, result) {
		return
	}
	if l.key.kind != Liveness {
		m.cfg.Statuses.SetProbed(p, c.Name, to.ID, l.key.kind == Startup, result == status.ProbeSucceeded, m.cfg.Now())
		if st, ok := m.cfg.Statuses.Get(l.uid); ok && m.cfg.Save != nil {
			m.cfg.Save(p, &st)
		}
	}
	m.due.add(l.uid)
	m.Nudge(l.uid)
}
