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

// restartDelays is how long containers that crash wait for their restart.
var restartDelays = backoff.Exponential{Min: 10 * time.Second, Max: 300 * time.Second}

// backoffReset is how long after the last restart a crash must come to count as the
// first.
const backoffReset = 600 * time.Second

// restartKey is a container as far as a new definition deserves a new chance.
type restartKey struct {
	name, image, resources string
}

// restartEntry is the back-off of one container.
type restartEntry struct {
	delay time.Duration
	// raisedAt is when delay was last raised, allowedFor the dead instance it was raised
	// for: the successor of that instance may be started at any time.
	raisedAt   time.Time
	allowedFor string
	// crashedAt is when instance, the dead one seen last, ended.
	instance  string
	crashedAt time.Time
}

func newRestartBackoff(now func() time.Time) *restartBackoff {
	return &restartBackoff{now: now, entries: map[types.UID]map[restartKey]*restartEntry{}}
}

// reserve returns how long the restart of a container still has to wait after the instance
// dead, out of delay. It returns 0 where the restart is due; then the next crash waits longer.
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

// crashTime returns the time of a crash at finished by the wall clock, bounded by now and the
// last restart.
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
		// It was stopped for a probe: the instance before it tells how soon it may start again.
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

// awaitBackoff is checkBackoff, and records the event of a container that has to wait.
func (p *Pool) awaitBackoff(it syncIteration, c *v1.Container, newest *status.ObservedContainer, observed *status.ObservedPod) error {
	err := p.checkBackoff(it.pod, c, newest, observed)
	if err != nil {
		status.ContainerEvent(p.cfg.Events, it.pod, c.Name, v1.EventTypeWarning, "BackOff",
			fmt.Sprintf("Back-off restarting failed container %s in pod %s(%s)", c.Name, pod.FullName(it.pod), it.uid))
	}
	return err
}

// lastExited returns the newest instance of a container that has ended, nil for none.
func lastExited(observed *status.ObservedPod, name string) *status.ObservedContainer {
	for i := range observed.Containers {
		if c := &observed.Containers[i]; c.Name == name && c.State == status.StateExited {
			return c
		}
	}
	return nil
}

// nextAttempt returns the attempt of the instance after newest. Without newest the log files
// of earlier instances are counted, and the status says the attempt after one that was removed
// for a restart of all. It is at least what an earlier agent saved.
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

// attemptFromLogs is one more than the highest N of the files "N.log*" in
// dir, 0 if there is none.
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

// An instance that was made and shows no start may be starting for an earlier
// agent, for maxStartTime at most; it is checked again after startingDelay.
const (
	maxStartTime  = 2 * time.Minute
	startingDelay = time.Second
)

// removeOldInstances removes the old instances of a container that is about to be started:
// those that never started, and the dead ones but the newest, which holds the last state of
// the container. It fails where the newest has not started and cannot be removed: an earlier
// agent may be starting it, and then the container must not be started twice.
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

// removeInitInstances removes the instances of init containers that ran in a sandbox before: in the new one they begin anew.
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

// startingInstance is an instance that may be starting, and when it was made.
type startingInstance struct {
	id   string
	made time.Time
}

// mayBeStarting reports whether an instance was made so recently that its start may be under
// way. Its age at the first call is that of the wall clock, which may have been set back;
// after that the monotonic clock counts.
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

// logNotRemoved logs that an old instance stays for now.
func (p *Pool) logNotRemoved(it syncIteration, c *status.ObservedContainer, err error) {
	p.mu.Lock()
	due := it.rec.removeLog.Due(c.Name, err.Error(), p.cfg.Now())
	p.mu.Unlock()
	if due {
		p.log.Warn("old container instance not removed", append(logPod(it.pod, it.uid), "container", c.Name, "id", c.ID, "err", err)...)
	}
}
