package simulation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// RunSandbox implements worker.Runtime.
func (l *link) RunSandbox(ctx context.Context, run pod.SandboxRun) (string, error) {
	w, p, uid := l.world, run.Pod, run.Pod.UID
	name := sandboxName(uid, run.Attempt)
	w.mu.Lock()
	w.note("run-sandbox %s", name)
	w.mayBegin(ctx, l, p)
	if w.runtime.names[name] {
		w.mu.Unlock()
		return "", errTaken
	}
	w.runtime.names[name] = true
	w.mu.Unlock()

	return l.effect(ctx, callSandbox, uid, func() { delete(w.runtime.names, name) }, func() (string, error) {
		s := &sandbox{
			id: w.runtime.newID("s"), uid: uid, name: p.Name, attempt: run.Attempt, ready: true, hostNetwork: p.Spec.HostNetwork,
			created: w.clock.wall(), annotations: marked(p), turns: newTurns(),
		}
		w.runtime.addSandbox(s)
		w.happened(uid, s.id, status.ChangeVisible)
		return s.id, nil
	})
}

// marked returns the annotations of the sandbox of a pod.
func marked(p *v1.Pod) map[string]string {
	annotations := maps.Clone(p.Annotations)
	annotations[pod.AnnotationMadeFrom], _ = pod.MadeFrom(p)
	annotations[pod.AnnotationInstance], _ = pod.Instance(p)
	return annotations
}

// ExpandPath implements worker.Runtime.
func (*link) ExpandPath(_ context.Context, _ *pod.ContainerRun, path string) (string, error) {
	return path, nil
}

// StartContainer implements worker.Runtime.
func (l *link) StartContainer(ctx context.Context, run pod.ContainerRun) (string, error) {
	w, p, uid := l.world, run.Pod, run.Pod.UID
	name := containerName(uid, run.Container.Name, run.Attempt)
	ending := l.pool.TerminationRequested(w.predecessor(l, uid))
	w.mu.Lock()
	w.note("start %s, image %s", name, run.Container.Image)
	w.mayBegin(ctx, l, p)
	w.mayStart(ctx, l, &run, ending)
	if w.runtime.names[name] {
		w.mu.Unlock()
		return "", &status.Fault{Reason: "CreateContainerError", Err: errTaken}
	}
	w.runtime.names[name] = true
	w.mu.Unlock()

	id, err := l.effect(ctx, callStart, uid, func() { delete(w.runtime.names, name) }, func() (string, error) {
		s := w.runtime.sandboxes[run.SandboxID]
		if s == nil || !s.ready {
			delete(w.runtime.names, name)
			return "", errors.New("the sandbox is not ready")
		}
		c := &container{
			id: w.runtime.newID("c"), name: run.Container.Name, hash: hash(run.Container), image: run.Container.Image,
			made: marked(p)[pod.AnnotationMadeFrom], sandbox: s, uid: uid, attempt: run.Attempt, state: status.StateCreated, created: w.clock.wall(), lapses: lapsesOf(p), done: make(chan struct{}),
			restartable: func(code int32) bool { return mayRunAgain(p, run.Container, code) }, policy: policyOf(p, run.Container), pod: p,
			startup: run.Container.StartupProbe, readiness: run.Container.ReadinessProbe,
			preStop: run.Container.Lifecycle != nil && run.Container.Lifecycle.PreStop != nil,
		}
		_, c.kind = pod.Container(p, c.name)
		c.place = slices.IndexFunc(p.Spec.InitContainers, func(i v1.Container) bool { return i.Name == c.name })
		if pod.IsStatic(p) {
			c.fullName = pod.FullName(p)
		}
		w.runtime.addContainer(c)
		w.happened(uid, c.id, status.ChangeCreated)
		if w.draw("created only "+string(uid))%20 == 0 {
			return c.id, errors.New("it was created and did not start")
		}
		w.begin(c)
		return c.id, nil
	})
	if err != nil {
		if errors.Is(err, errGone) || ctx.Err() != nil {
			return id, err
		}
		return id, &status.Fault{Reason: "RunContainerError", Err: err}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.runtime.containers[id]; c != nil && !l.dead && ctx.Err() == nil {
		c.known = l
	}
	if run.Container.Lifecycle != nil && run.Container.Lifecycle.PostStart != nil {
		l.hooking[uid]++
	}
	return id, nil
}

// begin marks a container as running. mu is held.
func (w *world) begin(c *container) {
	w.startsAlone(c)
	c.state, c.begun, c.since = status.StateRunning, w.clock.wall(), time.Now()
	w.note("container %v runs", c)
	sub := w.subject(c.uid)
	delete(sub.ended, c.name)
	sub.life.begun = max(sub.life.begun, c.lapses)
	w.happened(c.uid, c.id, status.ChangeVisible)
	c.sandbox.turns.begun[c.name] = true
	if c.watched() || c.kind == pod.Sidecar || w.set.allKinds {
		c.health = w.newHealth(c)
	}
	if c.kind == pod.EphemeralContainer {
		sub.debugged[c.name] = c.lapses
	}
	code, least, most := int32(0), time.Second, 25*time.Second
	switch imageKind(c.image) {
	case job:
		code = int32(w.draw("exit code "+string(c.uid)) % 2)
	case task:
		least, most = 50*time.Millisecond, 4*time.Second
		if w.draw("exit code "+string(c.uid))%4 == 0 {
			code = 1
		}
	default:
		return
	}
	time.AfterFunc(w.between("job "+string(c.uid), least, most), func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.end(c, code)
	})
}

// StopContainer implements worker.Runtime.
func (l *link) StopContainer(ctx context.Context, id string, grace time.Duration) error {
	w := l.world
	ending := l.pool.TerminationRequested(w.podOf(id))
	w.mu.Lock()
	w.note("stop %s within %s", id, grace)
	w.mayStop(ctx, l, id, grace, ending)
	w.mu.Unlock()
	if err := l.pass(ctx, callStop, w.podOf(id)); err != nil {
		return err
	}
	w.mu.Lock()
	c := w.runtime.containers[id]
	if c == nil || !c.running() {
		w.mu.Unlock()
		return nil
	}
	w.tell(c)
	w.mu.Unlock()

	kill := time.NewTimer(grace)
	defer kill.Stop()
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-l.gone:
		return errGone
	case <-kill.C:
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mayGoOn(ctx, l, c, grace, ending)
	w.end(c, 137)
	return nil
}

// tell asks a container to terminate, which happens soon, late or never. mu is held.
func (w *world) tell(c *container) {
	if c.told {
		return
	}
	c.told = true
	takes := w.between("ending "+string(c.uid), 5*time.Millisecond, 500*time.Millisecond)
	switch n := w.draw("manner of ending "+string(c.uid)) % 10; {
	case n == 9:
		return
	case n > 6:
		takes = w.between("ending "+string(c.uid), time.Second, 8*time.Second)
	}
	time.AfterFunc(takes, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.end(c, int32(w.draw("code of ending "+string(c.uid))%2)*143)
	})
}

// podOf returns the pod of a container, empty if there is no such container.
func (w *world) podOf(id string) types.UID {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.runtime.containers[id]; c != nil {
		return c.uid
	}
	return ""
}

// RemoveContainer implements worker.Runtime and gc.Runtime.
func (l *link) RemoveContainer(ctx context.Context, uid types.UID, id string) error {
	w := l.world
	if err := l.pass(ctx, callRemove, uid); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.runtime.containers[id]
	if c == nil {
		return nil
	}
	w.note("remove %v", c)
	switch {
	case c.foreign:
		w.violated("container %s of somebody else is removed", id)
	case c.running():
		w.violated("container %v is removed while it runs", c)
	case c.uid != uid:
		return fmt.Errorf("container %s is not one of pod %s", id, uid)
	}
	w.runtime.dropContainer(c)
	w.happened(uid, id, status.ChangeVisible)
	return nil
}

// StopSandbox implements worker.Runtime and gc.Runtime.
func (l *link) StopSandbox(ctx context.Context, id string) error {
	w := l.world
	w.mu.Lock()
	var uid types.UID
	if s := w.runtime.sandboxes[id]; s != nil {
		uid = s.uid
	}
	w.mu.Unlock()
	if err := l.pass(ctx, callEnd, uid); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.runtime.sandboxes[id]
	if s == nil {
		return nil
	}
	w.note("stop-sandbox %s of %s", id, s.uid)
	w.mayEndSandbox(l, s)
	w.endSandbox(s)
	return nil
}

// RemoveSandbox implements gc.Runtime.
func (l *link) RemoveSandbox(ctx context.Context, id string) error {
	w := l.world
	if err := l.pass(ctx, callRemove, ""); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.runtime.sandboxes[id]
	if s == nil {
		return nil
	}
	w.note("remove-sandbox %s of %s", id, s.uid)
	switch {
	case s.foreign:
		w.violated("sandbox %s of somebody else is removed", id)
	case s.ready:
		w.violated("sandbox %s of pod %s is removed while it runs", id, s.uid)
	}
	for _, c := range append([]*container(nil), w.runtime.group(s.uid).containers...) {
		if c.sandbox == s {
			w.runtime.dropContainer(c)
		}
	}
	w.runtime.dropSandbox(s)
	w.happened(s.uid, id, status.ChangeRemoving)
	return nil
}

// NetworkReady implements worker.Runtime.
func (l *link) NetworkReady() error {
	l.world.mu.Lock()
	defer l.world.mu.Unlock()
	if time.Now().Before(l.world.runtime.offline) {
		return errors.New("no network yet")
	}
	return nil
}
