package simulation

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// turns are how far the init containers and sidecars of a pod have come in one sandbox, by name. None of it is ever undone.
type turns struct {
	// begun have run, well have ended with 0, started are those of which a startup probe has succeeded.
	begun, well, started map[string]bool
	// failed: an init container has ended and may not start again.
	failed bool
}

func newTurns() turns {
	return turns{begun: map[string]bool{}, well: map[string]bool{}, started: map[string]bool{}}
}

// mayTakeTurn checks that a container does not start before those before it have done what it waits for, nor again where it
// has done its work. mu is held.
func (w *world) mayTakeTurn(l *link, run *pod.ContainerRun) {
	p, s := run.Pod, w.runtime.sandboxes[run.SandboxID]
	if s == nil || pod.IsStatic(p) && s.annotations[pod.AnnotationMadeFrom] != marked(p)[pod.AnnotationMadeFrom] {
		return
	}
	name := run.Container.Name
	_, kind := pod.Container(p, name)
	switch {
	case l.hooking[p.UID] > 0:
		w.violated("container %s of pod %s starts before the hook of the one before it has ended", name, p.UID)
	case kind == pod.EphemeralContainer:
		if since, ran := w.subject(p.UID).debugged[name]; ran && !w.lapsed(p.UID, since) {
			w.violated("ephemeral container %s of pod %s is started again", name, p.UID)
		}
		return
	case kind == pod.InitContainer && s.turns.well[name]:
		w.violated("init container %s of pod %s is started again in sandbox %s, in which it has ended well", name, p.UID, s.id)
	}
	for i := range p.Spec.InitContainers {
		c := &p.Spec.InitContainers[i]
		switch sidecar := pod.IsSidecar(c); {
		case c.Name == name:
			return
		case !sidecar && !s.turns.well[c.Name]:
			w.violated("container %s of pod %s is started before init container %s has ended well", name, p.UID, c.Name)
		case sidecar && !s.turns.begun[c.Name]:
			w.violated("container %s of pod %s is started before sidecar %s", name, p.UID, c.Name)
		case sidecar && c.StartupProbe != nil && !s.turns.started[c.Name]:
			w.violated("container %s of pod %s is started before sidecar %s has started", name, p.UID, c.Name)
		}
	}
}

// mayStopSidecar checks that a sidecar of a pod that ends stops after the regular containers and the later sidecars, or once
// its grace period is over. mu is held.
func (w *world) mayStopSidecar(l *link, c *container) {
	e, first := l.endings[c.uid], l.killing[c.uid]
	if c.kind != pod.Sidecar || e == nil || time.Since(first) >= time.Duration(e.grace)*time.Second {
		return
	}
	for _, o := range w.runtime.group(c.uid).containers {
		later := o.kind == pod.RegularContainer || o.kind == pod.Sidecar && o.place > c.place
		if known := o.known == l || o.told || time.Since(o.since) > time.Minute; o.running() && later && known {
			w.violated("sidecar %v is stopped before %v has ended", c, o)
		}
	}
}

// isOver reports whether nothing of a pod may start again: what else runs of it ends. mu is held.
func (w *world) isOver(p *v1.Pod, s *sandbox) bool {
	if s != nil && s.turns.failed {
		return true
	}
	g := w.runtime.group(p.UID)
	for i := range p.Spec.Containers {
		name := p.Spec.Containers[i].Name
		newest := g.newest(name)
		if _, ended := w.subject(p.UID).ended[name]; !ended && (newest == nil || !newest.condemned() || newest.running() && newest.restartable(137)) {
			return false
		}
	}
	return true
}

// uninitialized reports whether the regular containers of a pod still wait for others, and says what is missing then, empty
// for nothing. mu is held.
func (w *world) uninitialized(p *v1.Pod, st *v1.PodStatus) (why string, waits bool) {
	g := w.runtime.group(p.UID)
	if len(g.sandboxes) == 0 || !g.sandboxes[0].ready || w.isOver(p, nil) {
		return "", false
	}
	s := g.sandboxes[0]
	for i := range p.Spec.InitContainers {
		c := &p.Spec.InitContainers[i]
		newest, sidecar := g.newest(c.Name), pod.IsSidecar(c)
		switch {
		case !sidecar && s.turns.well[c.Name]:
			continue
		case s.turns.failed:
			if g.running() || !pod.IsTerminal(st.Phase) {
				return "init container " + c.Name + " has failed for good, and the pod has not ended", true
			}
			return "", true
		case newest == nil || newest.sandbox != s:
			return "init container " + c.Name + " has not run", true
		case !newest.alive():
			return "init container " + c.Name + " does not run again", true
		case !newest.running() || !sidecar:
			return "", true
		case newest.hash != hash(c):
			return "sidecar " + c.Name + " runs as " + newest.hash, true
		case c.StartupProbe != nil && !newest.started.ok:
			return "sidecar " + c.Name + " has not started", true
		}
	}
	return "", false
}

// killed notes that a pod that ends is being stopped, since when that is. mu is held.
func (l *link) killed(uid types.UID) {
	if _, ok := l.killing[uid]; !ok {
		l.killing[uid] = time.Now()
	}
}
