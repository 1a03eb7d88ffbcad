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

// attempt is the restart count of the instance that comes after newest. Where
// the runtime knows none, the log files of earlier ones are counted. It goes on
// from what was counted before the agent started.
func (p *Pool) attempt(t turn, container string, newest *status.ObservedContainer) (uint32, error) {
	least := t.attempts[container]
	if newest != nil {
		return max(newest.Attempt+1, least), nil
	}
	next, err := attemptFromLogs(filepath.Join(p.cfg.Layout.LogDir(t.pod), container))
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
// agent, for startPatience at most; it is looked at again after startingDelay.
const (
	startPatience = 2 * time.Minute
	startingDelay = time.Second
)

// prune removes the old instances of a container that is about to be started:
// those that never started, and the dead ones except the newest, from which
// the container's last state is read. It fails where the newest has not
// started and cannot be removed: its start may be under way, asked for by an
// earlier agent, and then the container must not be started a second time.
func (p *Pool) prune(ctx context.Context, t turn, name string, observed *status.ObservedPod) error {
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
		if err := p.proceed(ctx); err != nil {
			return err
		}
		err := p.cfg.Runtime.RemoveContainer(ctx, t.uid, c.ID)
		switch {
		case err == nil:
		case c == newest && c.State == status.StateCreated && p.mayStart(t.rec, c):
			return &status.Fault{
				Reason: "CreateContainerError", RetryAt: p.cfg.Now().Add(startingDelay),
				Err: fmt.Errorf("an instance that may still be starting cannot be removed: %w", err),
			}
		default:
			p.notRemoved(t, c, err)
		}
	}
	return nil
}

// starting is an instance that may be starting, and when it was made.
type starting struct {
	id   string
	made time.Time
}

// mayStart reports whether an instance was made so shortly ago that its start may
// be under way. How old it is when it is first asked about, the wall clock says,
// and it may have been set back; the time that passes after that, the monotonic one.
func (p *Pool) mayStart(rec *record, c *status.ObservedContainer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cfg.Now()
	s := rec.starting[c.Name]
	if s.id != c.ID {
		if rec.starting == nil {
			rec.starting = map[string]starting{}
		}
		s = starting{c.ID, now.Add(-max(now.Sub(c.CreatedAt), 0))}
		rec.starting[c.Name] = s
	}
	return now.Sub(s.made) < startPatience
}

// notRemoved logs that an old instance stays for now.
func (p *Pool) notRemoved(t turn, c *status.ObservedContainer, err error) {
	p.mu.Lock()
	due := t.rec.unremoved.Due(c.Name, err.Error(), p.cfg.Now())
	p.mu.Unlock()
	if due {
		p.log.Warn("old container instance not removed", append(logPod(t.pod, t.uid), "container", c.Name, "id", c.ID, "err", err)...)
	}
}
