package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/wardlet/wardlet/core/status"
)

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
