package simulation

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/state"
)

// mayStop checks that there is a reason to stop a container, and that it gets the
// time that it was promised and no more. mu is held.
func (w *world) mayStop(ctx context.Context, l *link, id string, grace time.Duration, ending bool) {
	c := w.runtime.containers[id]
	if l.dead || ctx.Err() != nil || c == nil {
		return
	}
	if c.foreign {
		w.violated("container %s of somebody else is stopped", id)
		return
	}
	if ending {
		l.killed(c.uid)
	}
	if !c.running() {
		return
	}
	if ending {
		w.mayStopSidecar(l, c)
	}
	w.mayStopUnhooked(l, c, grace, ending)
	if !w.lapsed(c.uid, c.lapses) && !w.homeless(c) && !w.unwritten(c.uid) && !c.condemned() && !w.isOver(c.pod, c.sandbox) {
		w.violated("container %v is stopped and nothing about its pod has changed", c)
	}
	most := w.subject(c.uid).longest
	if e := l.endings[c.uid]; e != nil && ending {
		most = e.grace
	}
	if w.set.allKinds {
		most = max(most, leastGrace)
	}
	if grace > time.Duration(max(most, 1))*time.Second {
		w.violated("container %v has %s to end, and %d s is what it may have", c, grace, most)
	}
}

// leastGrace is what a container gets at least, in seconds, after a hook or others that it has waited for.
const leastGrace = 2

// mayGoOn checks, at the end of a grace period, that it was not made shorter some time
// ago. mu is held.
func (w *world) mayGoOn(ctx context.Context, l *link, c *container, grace time.Duration, ending bool) {
	e := l.endings[c.uid]
	if l.dead || ctx.Err() != nil || e == nil || !ending || !c.running() {
		return
	}
	shortened := e.grace
	if w.set.allKinds {
		shortened = max(shortened, leastGrace)
	}
	if shortened := time.Duration(shortened) * time.Second; grace > shortened && time.Since(e.since) > time.Second {
		w.violated("container %v had %s to end, and that was made %s before", c, grace, shortened)
	}
}

// unwritten reports whether the newest version of a pod may not be on the disk: an agent that begins acts on an earlier one
// until it hears of this one. mu is held.
func (w *world) unwritten(uid types.UID) bool {
	for _, s := range w.sources {
		for _, d := range s.documents {
			if d.pod.UID == uid && w.disk.doubt[state.DocumentID{Source: s.name, ID: d.id}] {
				return true
			}
		}
	}
	return false
}

// homeless reports whether a container does not run in the sandbox that its pod has.
func (w *world) homeless(c *container) bool {
	g := w.runtime.group(c.uid)
	return !c.sandbox.ready || g.sandboxes[0] != c.sandbox
}

// mayEndSandbox checks that a sandbox that is stopped is not foreign, and that each
// container that runs in it was asked to end before. mu is held.
func (w *world) mayEndSandbox(l *link, s *sandbox) {
	if l.dead {
		return
	}
	if s.foreign {
		w.violated("sandbox %s of somebody else is stopped", s.id)
		return
	}
	for _, c := range w.runtime.group(s.uid).containers {
		if c.sandbox == s && c.running() && !c.told && time.Since(c.since) > time.Minute {
			w.violated("container %v is ended with its sandbox, without a word", c)
		}
	}
}
