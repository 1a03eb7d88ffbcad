package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/internal/backoff"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// restartBackoff delays the restarts of containers that crash. After the first crash the restart is
// immediate. Then the delays, counted from the crash, double from 10 s to 5 min. All durations are
// measured on the monotonic clock, so a jump of the wall clock makes no delay longer.
type restartBackoff struct {
	// now is Config.Now.
	now func() time.Time

	mu      sync.Mutex
	entries map[types.UID]map[restartKey]*restartEntry
}

// restartDelays are the delays between a crash and the restart of the container.
var restartDelays = backoff.Exponential{Min: 10 * time.Second, Max: 300 * time.Second}

// backoffReset is a time after the last restart. A crash that comes later counts as the first.
const backoffReset = 600 * time.Second

// restartKey identifies a container and the fields whose change resets its back-off.
type restartKey struct {
	name, image, resources string
}

// restartEntry is the back-off of one container.
type restartEntry struct {
	delay time.Duration
	// raisedAt is when delay was last raised. allowedFor is the dead instance for which it was
	// raised: the successor of that instance may be started at any time.
	raisedAt   time.Time
	allowedFor string
	// instance is the dead instance that was seen last, and crashedAt is when it exited.
	instance  string
	crashedAt time.Time
}

func newRestartBackoff(now func() time.Time) *restartBackoff {
	return &restartBackoff{now: now, entries: map[types.UID]map[restartKey]*restartEntry{}}
}

// reserve returns how long the restart of a container still has to wait after the instance dead
// exited, and the whole delay. It returns 0 if the restart is due; then the delay after the next
// crash is longer.
func (b *restartBackoff) reserve(uid types.UID, key restartKey, dead *status.ObservedContainer) (wait, delay time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if b.entries[uid] == nil {
		b.entries[uid] = map[restartKey]*restartEntry{}
	}
	e, ok := b.entries[uid][key]
	if !ok {
		b.entries[uid][key] = &restartEntry{delay: restartDelays.Min, raisedAt: now, allowedFor: dead.ID}
		return 0, 0
	}
	if e.allowedFor == dead.ID {
		return 0, 0
	}
	if e.instance != dead.ID {
		e.instance, e.crashedAt = dead.ID, e.crashTime(dead.FinishedAt, now)
	}
	if e.crashedAt.Sub(e.raisedAt) > backoffReset {
		*e = restartEntry{delay: restartDelays.Min, raisedAt: now, allowedFor: dead.ID}
		return 0, 0
	}
	if wait := e.delay - now.Sub(e.crashedAt); wait > 0 {
		return wait, e.delay
	}
	*e = restartEntry{delay: restartDelays.Next(e.delay), raisedAt: now, allowedFor: dead.ID}
	return 0, 0
}

// crashTime returns the time of a crash, where finished is its time by the wall clock. The result
// is no later than now and no earlier than the last restart.
func (e *restartEntry) crashTime(finished, now time.Time) time.Time {
	return now.Add(-min(max(now.Sub(finished), 0), now.Sub(e.raisedAt)))
}

func (b *restartBackoff) forget(uid types.UID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.entries, uid)
}

// checkBackoff returns a CrashLoopBackOff fault while a crashed container has to wait for its
// restart.
func (p *Pool) checkBackoff(about *v1.Pod, c *v1.Container, newest *status.ObservedContainer, observed *status.ObservedPod) error {
	if newest != nil && newest.State == status.StateRunning {
		// The container was stopped because of a probe: the delay depends on the instance before
		// it.
		newest = lastExited(observed, c.Name)
	}
	if newest == nil || newest.State != status.StateExited {
		return nil
	}
	resources, err := json.Marshal(c.Resources)
	if err != nil {
		return fmt.Errorf("encoding the resources of container %s: %w", c.Name, err)
	}
	wait, delay := p.backoff.reserve(about.UID, restartKey{c.Name, c.Image, string(resources)}, newest)
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

// awaitBackoff is checkBackoff, and records an event if the container has to wait.
func (p *Pool) awaitBackoff(it syncIteration, c *v1.Container, newest *status.ObservedContainer, observed *status.ObservedPod) error {
	err := p.checkBackoff(it.pod, c, newest, observed)
	if err != nil {
		status.ContainerEvent(p.cfg.Events, it.pod, c.Name, v1.EventTypeWarning, "BackOff",
			fmt.Sprintf("Back-off restarting failed container %s in pod %s(%s)", c.Name, pod.FullName(it.pod), it.uid))
	}
	return err
}

// lastExited returns the newest exited instance of a container, nil for none.
func lastExited(observed *status.ObservedPod, name string) *status.ObservedContainer {
	for i := range observed.Containers {
		if c := &observed.Containers[i]; c.Name == name && c.State == status.StateExited {
			return c
		}
	}
	return nil
}

// nextAttempt returns the attempt of the instance after newest. If newest is nil, the attempt is
// counted from the log files of earlier instances and from the status, which has the attempt that
// follows an instance removed for a restart of all containers. The result is at least the attempt
// that an earlier agent saved.
func (p *Pool) nextAttempt(it syncIteration, container string, newest *status.ObservedContainer) (uint32, error) {
	least := it.minAttempts[container]
	if newest != nil {
		return max(newest.Attempt+1, least), nil
	}
	if st, ok := p.cfg.Statuses.Get(it.uid); ok {
		if c := pod.ContainerStatus(&st, container); c != nil && status.RemovedForRestart(c) {
			least = max(least, uint32(c.RestartCount))
		}
	}
	next, err := attemptFromLogs(filepath.Join(p.cfg.Layout.LogDir(it.pod), container))
	return max(next, least), err
}

// attemptFromLogs returns one more than the highest N of the files "N.log*" in dir, 0 for no such
// file.
func attemptFromLogs(dir string) (uint32, error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("counting restarts by log files: %w", err)
	}
	var next uint32
	for _, f := range files {
		number, rest, found := strings.Cut(f.Name(), ".")
		if f.IsDir() || !found || !strings.HasPrefix(rest, "log") {
			continue
		}
		if n, err := strconv.ParseUint(number, 10, 31); err == nil {
			next = max(next, uint32(n)+1)
		}
	}
	return next, nil
}

// A created instance that has not started may still be starting for an earlier agent, for
// maxStartTime at most. It is checked again after startingDelay.
const (
	maxStartTime  = 2 * time.Minute
	startingDelay = time.Second
)

// removeOldInstances removes the old instances of a container that is about to be started: those
// that never started, and the dead ones except the newest, which holds the last state of the
// container. It fails if the newest instance has not started and cannot be removed: an earlier
// agent may be starting that instance, and the container must not be started twice.
func (p *Pool) removeOldInstances(ctx context.Context, it syncIteration, name string, observed *status.ObservedPod) error {
	kept, newest := false, observed.Newest(name)
	for i := range observed.Containers {
		c := &observed.Containers[i]
		if c.Name != name || (c.State != status.StateExited && c.State != status.StateCreated) {
			continue
		}
		if c.State == status.StateExited && !kept {
			kept = true
			continue
		}
		if err := p.interrupted(ctx); err != nil {
			return err
		}
		err := p.cfg.Runtime.RemoveContainer(ctx, it.uid, c.ID)
		switch {
		case err == nil:
		case c == newest && c.State == status.StateCreated && p.mayBeStarting(it.rec, c):
			return &status.Fault{
				Reason: "CreateContainerError", RetryAt: p.cfg.Now().Add(startingDelay),
				Err: fmt.Errorf("an instance that may still be starting cannot be removed: %w", err),
			}
		default:
			p.logNotRemoved(it, c, err)
		}
	}
	return nil
}

// removeInitInstances removes the instances of init containers from earlier sandboxes: in the new
// sandbox the init containers run again.
func (p *Pool) removeInitInstances(ctx context.Context, it syncIteration, observed *status.ObservedPod) {
	for i := range observed.Containers {
		c := &observed.Containers[i]
		if named, kind := pod.Container(it.pod, c.Name); named == nil || kind != pod.InitContainer && kind != pod.Sidecar {
			continue
		}
		if err := p.cfg.Runtime.RemoveContainer(ctx, it.uid, c.ID); err != nil {
			p.logNotRemoved(it, c, err)
		}
	}
}

// startingInstance is an instance that may be starting, and the time when it was made.
type startingInstance struct {
	id   string
	made time.Time
}

// mayBeStarting reports whether an instance was made so recently that its start may be under way.
// The first call computes its age from the wall clock, which may have been set back. Later calls
// use the monotonic clock.
func (p *Pool) mayBeStarting(rec *record, c *status.ObservedContainer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cfg.Now()
	s := rec.starting[c.Name]
	if s.id != c.ID {
		if rec.starting == nil {
			rec.starting = map[string]startingInstance{}
		}
		s = startingInstance{c.ID, now.Add(-max(now.Sub(c.CreatedAt), 0))}
		rec.starting[c.Name] = s
	}
	return now.Sub(s.made) < maxStartTime
}

// logNotRemoved logs that an old instance was not removed.
func (p *Pool) logNotRemoved(it syncIteration, c *status.ObservedContainer, err error) {
	p.mu.Lock()
	due := it.rec.removeLog.Due(c.Name, err.Error(), p.cfg.Now())
	p.mu.Unlock()
	if due {
		p.log.Warn("old container instance not removed", append(logPod(it.pod, it.uid), "container", c.Name, "id", c.ID, "err", err)...)
	}
}
