package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// OnDisconnect is the annotation with which a pod of the API server says what happens to it while the
// node is disconnected: "keep", the default, or "stop-after=" and a duration.
const OnDisconnect = "wardlet.dev/on-disconnect"

const (
	keepRunning = "keep"
	stopAfter   = "stop-after="
	// minStopAfter is the shortest duration: leases are renewed every 10 s.
	minStopAfter = leaseDuration
)

// ReasonDisconnected is the reason of the status of a pod that was stopped because the node was
// disconnected.
const ReasonDisconnected = "Disconnected"

// Renewals stores when the node's lease was last renewed.
type Renewals interface {
	// Load returns the stored time, zero for none.
	Load() (time.Time, error)
	Store(at time.Time) error
}

const (
	// disconnectPeriod is the interval at which pods are looked at.
	disconnectPeriod = time.Second
	// renewalPeriod is the shortest time between two writes of the time of a renewal.
	renewalPeriod = time.Minute
)

// stopAfterOf returns after which time without a renewal a pod is stopped, 0 for never. The error
// says what is wrong with the annotation.
func stopAfterOf(p *v1.Pod) (time.Duration, error) {
	value, ok := p.Annotations[OnDisconnect]
	if !ok || value == keepRunning {
		return 0, nil
	}
	text, ok := strings.CutPrefix(value, stopAfter)
	d, err := time.ParseDuration(text)
	if !ok || err != nil || d < minStopAfter {
		return 0, fmt.Errorf("annotation %s: want %q or %q and a duration of at least %s, found %q; the pod keeps running", OnDisconnect, keepRunning, stopAfter, minStopAfter, value)
	}
	return d, nil
}

// connection is when the node last renewed its lease. Only endDisconnected uses it, apart from
// renewed, which the loop of the lease sets.
type connection struct {
	// since is the last renewal, or the start of the process; before is how long it was ago at that
	// moment: the time of an earlier process.
	since  time.Time
	before time.Duration
	stored time.Time
	// told are the pods that were stopped, or whose annotation is wrong.
	told map[types.UID]bool
}

// endDisconnected stops the pods that say so when the node is disconnected for long enough. The time
// counts from the last renewal of the lease, also over restarts. It works until ctx is done.
func (m *Member) endDisconnected(ctx context.Context) {
	if m.cfg.Stop == nil {
		return
	}
	c := connection{since: m.cfg.Now(), told: map[types.UID]bool{}}
	last, err := m.cfg.Renewals.Load()
	if err != nil {
		m.log.Warn("it is unknown since when the node is disconnected; the time counts from now on", "err", err)
	}
	if !last.IsZero() {
		c.before = max(c.since.Sub(last), 0) // a clock that is behind counts as no time
	}
	for sleep(ctx, disconnectPeriod, 0) {
		m.endOnce(&c)
	}
}

func (m *Member) endOnce(c *connection) {
	m.mu.Lock()
	if m.renewed.After(c.since) {
		c.since, c.before = m.renewed, 0
	}
	m.mu.Unlock()
	away := m.cfg.Now().Sub(c.since) + c.before
	store := false
	alive := map[types.UID]bool{}
	for _, p := range m.cfg.Pods.All() {
		after, err := stopAfterOf(p)
		alive[p.UID] = true
		switch {
		case err != nil && !c.told[p.UID]:
			c.told[p.UID] = true
			m.cfg.Stop.Event(p, v1.EventTypeWarning, "InvalidAnnotation", err.Error())
		case after > 0 && away < after:
			store = true
		case after > 0 && !c.told[p.UID] && m.cfg.Pods.MayRun(p.UID):
			c.told[p.UID] = true
			m.cfg.Stop.Disconnected(p, fmt.Sprintf("The node has not renewed its lease for %s; the pod's annotation %s says %s%s.", away.Round(time.Second), OnDisconnect, stopAfter, after))
		}
	}
	for uid := range c.told {
		if !alive[uid] {
			delete(c.told, uid)
		}
	}
	if at := c.since; store && c.before == 0 && at.Sub(c.stored) >= renewalPeriod {
		c.stored = at
		if err := m.cfg.Renewals.Store(at); err != nil {
			m.log.Warn("the time of the last renewal of the lease is not saved; after a restart pods are stopped later", "err", err)
		}
	}
}

// Stopper stops pods because the node is disconnected.
type Stopper interface {
	// Disconnected stops a pod with its grace period. Its status is then Failed, with ReasonDisconnected
	// and a message.
	Disconnected(p *v1.Pod, message string)
	Event(p *v1.Pod, kind, reason, message string)
}
