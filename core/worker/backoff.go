package worker

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/internal/backoff"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// restartDelays is how long containers that crash wait for their restart.
var restartDelays = backoff.Exponential{Min: 10 * time.Second, Max: 300 * time.Second}

// backoffReset is how long after the last restart a crash must come to count as the
// first.
const backoffReset = 600 * time.Second

// restartBackoff paces the restarts of containers that crash. The first crash is
// answered at once; then the waits, from the moment of the crash, double from
// 10 s to 5 min. All durations are measured on the monotonic clock: a wall
// clock that jumps makes no wait longer than it should be.
type restartBackoff struct {
	// now is Config.Now.
	now func() time.Time

	mu      sync.Mutex
	entries map[types.UID]map[restartKey]*restartEntry
}

// restartKey is a container as far as a new definition deserves a new chance.
type restartKey struct {
	name, image, resources string
}

type restartEntry struct {
	delay time.Duration
	// bumped is when delay was last raised, allowed the dead instance that
	// was for: its successor may be started whenever that succeeds.
	bumped  time.Time
	allowed string
	// crashed is when the dead instance looked at last died.
	instance string
	crashed  time.Time
}

func newRestartBackoff(now func() time.Time) *restartBackoff {
	return &restartBackoff{now: now, entries: map[types.UID]map[restartKey]*restartEntry{}}
}

// take asks whether the successor of dead may be started. It gives how long
// that still has to wait, out of delay, or 0, and then the next crash will
// wait longer.
func (b *restartBackoff) take(uid types.UID, key restartKey, dead *status.ObservedContainer) (wait, delay time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if b.entries[uid] == nil {
		b.entries[uid] = map[restartKey]*restartEntry{}
	}
	e, ok := b.entries[uid][key]
	if !ok {
		b.entries[uid][key] = &restartEntry{delay: restartDelays.Min, bumped: now, allowed: dead.ID}
		return 0, 0
	}
	if e.allowed == dead.ID {
		return 0, 0
	}
	if e.instance != dead.ID {
		e.instance, e.crashed = dead.ID, e.when(dead.FinishedAt, now)
	}
	if e.crashed.Sub(e.bumped) > backoffReset {
		*e = restartEntry{delay: restartDelays.Min, bumped: now, allowed: dead.ID}
		return 0, 0
	}
	if wait := e.delay - now.Sub(e.crashed); wait > 0 {
		return wait, e.delay
	}
	*e = restartEntry{delay: restartDelays.Next(e.delay), bumped: now, allowed: dead.ID}
	return 0, 0
}

// when is the moment of a crash that was at finished by the wall clock. It was
// not in the future, and not before the restart it came after.
func (e *restartEntry) when(finished, now time.Time) time.Time {
	return now.Add(-min(max(now.Sub(finished), 0), now.Sub(e.bumped)))
}

func (b *restartBackoff) forget(uid types.UID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.entries, uid)
}

// mayRestart gives a CrashLoopBackOff fault while a container that has crashed
// must wait.
func (p *Pool) mayRestart(about *v1.Pod, c *v1.Container, newest *status.ObservedContainer) error {
	if newest == nil || newest.State != status.StateExited {
		return nil
	}
	resources, err := json.Marshal(c.Resources)
	if err != nil {
		return fmt.Errorf("encoding the resources of container %s: %w", c.Name, err)
	}
	wait, delay := p.backoff.take(about.UID, restartKey{c.Name, c.Image, string(resources)}, newest)
	if wait == 0 {
		return nil
	}
	return &status.Fault{
		Reason:  "CrashLoopBackOff",
		RetryAt: p.cfg.Now().Add(wait),
		Err: fmt.Errorf("back-off %s restarting failed container=%s pod=%s(%s)",
			delay, c.Name, pod.FullName(about), about.UID),
	}
}
