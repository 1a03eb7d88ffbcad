package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

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
	// renewalPeriod is the shortest time between two writes of the time of a renewal, while the node
	// is connected.
	renewalPeriod = time.Minute
	// firstRenewal is how long after the start of the agent no pod is stopped: the time that it needs
	// to renew the lease, if it can.
	firstRenewal = requestTimeout
)

// stopAfterOf returns after which time without a renewal a pod is stopped, 0 for never. The error
// says what is wrong with the annotation.
func stopAfterOf(p *v1.Pod) (time.Duration, error) {
	value, ok := p.Annotations[pod.AnnotationOnDisconnect]
	if !ok || value == keepRunning {
		return 0, nil
	}
	text, ok := strings.CutPrefix(value, stopAfter)
	d, err := time.ParseDuration(text)
	if !ok || err != nil || d < minStopAfter {
		return 0, fmt.Errorf("annotation %s: want %q or %q and a duration of at least %s, found %q; the pod keeps running", pod.AnnotationOnDisconnect, keepRunning, stopAfter, minStopAfter, value)
	}
	return d, nil
}

// connection is when the node last renewed its lease, as an earlier process stored it and this one
// began. mu of the Member guards it.
type connection struct {
	// since is the start of this process, and before is how long the last renewal was ago then.
	since  time.Time
	before time.Duration
}

// recallRenewal reads when an earlier process renewed the lease.
func (m *Member) recallRenewal() {
	m.connection.since = m.cfg.Now()
	if m.cfg.Renewals == nil {
		return
	}
	last, err := m.cfg.Renewals.Load()
	if err != nil {
		m.log.Warn("it is unknown since when the node is disconnected; the time counts from now on", "err", err)
	}
	if !last.IsZero() {
		m.connection.before = max(m.connection.since.Sub(last), 0) // a clock that is behind counts as no time
	}
}

// away returns for how long the lease was not renewed, also over restarts. last is its last renewal
// by this process, zero for none.
func (m *Member) away() (d time.Duration, last time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.cfg.Now()
	if !m.renewed.IsZero() {
		return now.Sub(m.renewed), m.renewed
	}
	return now.Sub(m.connection.since) + m.connection.before, time.Time{}
}

// Offline reports whether the API server does not answer: the lease was not renewed for longer than two
// of its periods. Before the first renewal, silent says whether something else has waited in vain.
func (m *Member) Offline(silent bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := m.renewed
	if last.IsZero() {
		if silent {
			return true
		}
		last = m.connection.since
	}
	return m.cfg.Now().Sub(last) > 2*leasePeriod
}

// MayStart returns an error while a pod must not start because the node is disconnected for longer
// than its annotation allows.
func (m *Member) MayStart(p *v1.Pod) error {
	after, _ := stopAfterOf(p) // what is wrong with it is in an event
	if away, _ := m.away(); after > 0 && away >= after {
		return errors.New(disconnectedFor(away, after))
	}
	return nil
}

func disconnectedFor(away, after time.Duration) string {
	return fmt.Sprintf("The node has not renewed its lease for %s; the pod's annotation %s says %s%s.",
		away.Round(time.Second), pod.AnnotationOnDisconnect, stopAfter, after)
}

// disconnected is what endDisconnected has done.
type disconnected struct {
	// stopped are the pods that were stopped, and told those whose annotation is wrong.
	stopped, told map[types.UID]bool
	// stored is the renewal that was stored last.
	stored time.Time
}

// endDisconnected stops the pods that say so when the node is disconnected for long enough. The time
// counts from the last renewal of the lease, also over restarts. It works until ctx is done.
func (m *Member) endDisconnected(ctx context.Context) {
	if m.cfg.Stop == nil {
		return
	}
	began := m.cfg.Now()
	d := disconnected{stopped: map[types.UID]bool{}, told: map[types.UID]bool{}}
	for sleep(ctx, disconnectPeriod, 0) {
		m.endOnce(&d, m.cfg.Now().Sub(began) < firstRenewal)
	}
}

// endOnce looks at all pods once. It stops none while waiting is true.
func (m *Member) endOnce(d *disconnected, waiting bool) {
	away, last := m.away()
	store := false
	alive := map[types.UID]bool{}
	for _, p := range m.cfg.Pods.All() {
		after, err := stopAfterOf(p)
		alive[p.UID] = true
		switch {
		case err != nil && !d.told[p.UID]:
			d.told[p.UID] = true
			m.cfg.Stop.Event(p, v1.EventTypeWarning, "InvalidAnnotation", err.Error())
		case after > 0 && away < after:
			store = true
		case after > 0 && !waiting && !d.stopped[p.UID] && m.cfg.Pods.Started(p.UID):
			d.stopped[p.UID] = true
			m.cfg.Stop.Disconnected(p, disconnectedFor(away, after))
		}
	}
	gone := func(uid types.UID, _ bool) bool { return !alive[uid] }
	maps.DeleteFunc(d.told, gone)
	maps.DeleteFunc(d.stopped, gone)
	// When the node is cut off, the last renewal is stored, whenever it was.
	if store && last.After(d.stored) && (last.Sub(d.stored) >= renewalPeriod || away > 2*leasePeriod) {
		d.stored = last
		if err := m.cfg.Renewals.Store(last); err != nil {
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
