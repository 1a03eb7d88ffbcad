package simulation

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// mayBegin checks that a sandbox or container of a pod may be made: policy has admitted this
// version, and the pod is not being deleted. mu is held.
func (w *world) mayBegin(ctx context.Context, l *link, p *v1.Pod) {
	if l.dead || ctx.Err() != nil {
		return
	}
	if instance := instanceOf(p); w.set.gated && !w.policy.allowed[instance] {
		w.violated("pod %s starts as %s, which policy never let pass; it said %q", p.UID, instance, w.policy.answers[instance].Answer)
	}
	if p.DeletionTimestamp != nil {
		w.violated("something of pod %s is started, which is being deleted", p.UID)
	}
}

// mayStart checks a container that is to start: it does not run already, it has not ended for
// good, and its pod does not have to wait. mu is held.
func (w *world) mayStart(ctx context.Context, l *link, run *pod.ContainerRun, predecessorEnds bool) {
	if l.dead || ctx.Err() != nil {
		return
	}
	uid, name := run.Pod.UID, run.Container.Name
	for _, c := range w.runtime.group(uid).containers {
		if c.name == name && c.running() && c.known == l {
			w.violated("container %s of pod %s is started again though the agent knows that %v runs", name, uid, c)
		}
	}
	if e, ok := w.subject(uid).ended[name]; ok && e.hash == hash(run.Container) && !w.lapsed(uid, e.lapses) && !runsInNewSandbox(run, e) {
		w.violated("container %s of pod %s is started again though it ended with %d and its policy is %s", name, uid, e.code, policyOf(run.Pod, run.Container))
	}
	w.mayTakeTurn(l, run)
	if before := l.after[uid]; before != "" && predecessorEnds && w.runtime.group(before).running() {
		w.violated("pod %s starts before pod %s has ended, whose place it takes", uid, before)
	}
}

// runsInNewSandbox reports whether a container that ended for good may start again because its
// pod has a newer sandbox. As with a kubelet, the container's own policy prevents this only if
// it is OnFailure and the container succeeded. The pod's policy must not be Never.
func runsInNewSandbox(run *pod.ContainerRun, e ended) bool {
	return run.SandboxID != e.sandbox && run.Pod.Spec.RestartPolicy != v1.RestartPolicyNever &&
		(e.code != 0 || policyOf(run.Pod, run.Container) != v1.RestartPolicyOnFailure)
}

// predecessor returns the pod that this one replaces, empty for none.
func (w *world) predecessor(l *link, uid types.UID) types.UID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return l.after[uid]
}

// startsAlone checks, when a container begins to run, that no other instance of the container
// runs, and no other static pod of its name. mu is held.
func (w *world) startsAlone(c *container) {
	for _, o := range w.runtime.group(c.uid).containers {
		if o != c && o.name == c.name && o.running() {
			w.violated("container %s runs twice: as %v and as %v", c.name, o, c)
		}
	}
	if c.fullName == "" {
		return
	}
	for _, o := range w.runtime.containers {
		if o.uid != c.uid && o.fullName == c.fullName && o.running() {
			w.violated("two static pods of the name %s run at once: %s and %s", c.fullName, o.uid, c.uid)
		}
	}
}

// mayStop checks that there is a reason to stop a container, and that its grace period
// is no longer than allowed. mu is held.
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

// leastGrace is the shortest grace period of a container, in seconds, after its hook or after
// other containers for which it waited.
const leastGrace = 2

// mayGoOn checks, when a grace period has passed, that it was not shortened some time
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

// unwritten reports whether the newest version of a pod may be missing on the disk. An agent
// that starts then acts on an earlier version until its source delivers this one. mu is held.
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

// homeless reports whether a container does not run in the current sandbox of its pod.
func (w *world) homeless(c *container) bool {
	g := w.runtime.group(c.uid)
	return !c.sandbox.ready || g.sandboxes[0] != c.sandbox
}

// mayEndSandbox checks that a sandbox that is stopped is not foreign, and that each
// container that runs in it was asked to terminate first. mu is held.
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

// turns are how far the init containers and sidecars of a pod have come in one sandbox, by name.
// An entry is never removed.
type turns struct {
	// begun have started to run, well have exited with 0. started have a startup probe that
	// has succeeded.
	begun, well, started map[string]bool
	// failed: an init container has failed and may not start again.
	failed bool
}

func newTurns() turns {
	return turns{begun: map[string]bool{}, well: map[string]bool{}, started: map[string]bool{}}
}

// mayTakeTurn checks that a container starts only after the containers before it have done what
// it waits for, and that an init container that succeeded does not start again. mu is held.
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

// mayStopSidecar checks that a sidecar of a pod that terminates stops after the regular
// containers and the later sidecars, or once its grace period has passed. There is no order for
// containers of an earlier version that the terminating version does not name. mu is held.
func (w *world) mayStopSidecar(l *link, c *container) {
	e, first := l.endings[c.uid], l.killing[c.uid]
	if c.kind != pod.Sidecar || e == nil || time.Since(first) >= time.Duration(e.grace)*time.Second {
		return
	}
	if _, kind := pod.Container(e.pod, c.name); kind != pod.Sidecar {
		return
	}
	for _, o := range w.runtime.group(c.uid).containers {
		named, _ := pod.Container(e.pod, o.name)
		later := named != nil && (o.kind == pod.RegularContainer || o.kind == pod.Sidecar && o.place > c.place)
		if known := o.known == l || o.told || time.Since(o.since) > time.Minute; o.running() && later && known {
			w.violated("sidecar %v is stopped before %v has ended", c, o)
		}
	}
}

// isOver reports whether nothing of a pod may start again. What still runs of it must then
// terminate. mu is held.
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

// uninitialized reports whether the regular containers of a pod still wait for init containers
// or sidecars. why says what is wrong with these, empty for nothing. mu is held.
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

// killed records when the stopping of a pod began. mu is held.
func (l *link) killed(uid types.UID) {
	if _, ok := l.killing[uid]; !ok {
		l.killing[uid] = time.Now()
	}
}
