package simulation

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/test/mutants"
)

// foreign is on while the runtime shows pods of other clients to the agent. The world
// stands in for core/runtime here, which separates these pods from the agent's own.
var foreign = mutants.Register("runtime", map[string]bool{"foreign-pod-shown": true})

// ListPods implements pleg.Runtime and gc.Runtime. The state it returns is that of some
// moment during the call.
func (l *link) ListPods(ctx context.Context) ([]status.ObservedPod, error) {
	if err := l.pass(ctx, callList, ""); err != nil {
		return nil, err
	}
	w := l.world
	w.mu.Lock()
	var pods []status.ObservedPod
	for uid, g := range w.runtime.pods {
		if uid == "foreign" && !foreign.Fault() {
			continue
		}
		if len(g.sandboxes)+len(g.containers) > 0 {
			pods = append(pods, g.observed(uid, false))
		}
	}
	after := w.lag("list")
	w.mu.Unlock()
	return pods, l.sleep(ctx, after)
}

// InspectPod implements pleg.Runtime.
func (l *link) InspectPod(ctx context.Context, uid types.UID) (status.ObservedPod, error) {
	if err := l.pass(ctx, callInspect, uid); err != nil {
		return status.ObservedPod{}, err
	}
	w := l.world
	w.mu.Lock()
	p := status.ObservedPod{UID: uid}
	if g := w.runtime.pods[uid]; g != nil {
		p = g.observed(uid, true)
	}
	after := w.lag("inspect " + string(uid))
	w.mu.Unlock()
	return p, l.sleep(ctx, after)
}

// lag returns how long a result takes to arrive. mu is held.
func (w *world) lag(what string) time.Duration {
	if w.draw(what+" lags")%12 == 0 {
		return w.between(what+" lag", 0, 2*time.Second)
	}
	return w.between(what+" lag", 0, 10*time.Millisecond)
}

// observed returns the group as an inspection shows it (whole) or as a list does, which shows
// less.
func (g *group) observed(uid types.UID, whole bool) status.ObservedPod {
	p := status.ObservedPod{UID: uid, Namespace: "default"}
	for _, s := range g.sandboxes {
		if p.Name == "" {
			p.Name = s.name
		}
		o := status.ObservedSandbox{ID: s.id, Attempt: s.attempt, Ready: s.ready, CreatedAt: s.created, Annotations: s.annotations}
		if whole {
			o.Labels = map[string]string{pod.LabelPodName: s.name}
			o.HostNetwork = s.hostNetwork
			if !s.hostNetwork {
				o.IPs = []string{"10.0.0.1"}
			}
			if s.ready && p.IPs == nil {
				p.IPs = o.IPs
			}
		}
		p.Sandboxes = append(p.Sandboxes, o)
	}
	for _, c := range g.containers {
		if p.Name == "" {
			p.Name = c.sandbox.name
		}
		o := status.ObservedContainer{
			ID: c.id, SandboxID: c.sandbox.id, Name: c.name, Attempt: c.attempt, State: c.state, CreatedAt: c.created,
			Image: c.image, Hash: c.hash,
		}
		if whole {
			o.StartedAt, o.FinishedAt, o.ExitCode = c.begun, c.ended, c.code
		}
		p.Containers = append(p.Containers, o)
	}
	return p
}

// Healthy reports whether the runtime answers at all.
func (l *link) Healthy() error {
	l.world.mu.Lock()
	defer l.world.mu.Unlock()
	if time.Now().Before(l.world.runtime.down) {
		return errTrouble
	}
	return nil
}

// watcher is a stream of events to the agent. It is guarded by the world's lock.
type watcher struct {
	events chan status.PodChange
	// broken is closed when the stream breaks; lost is true from then on.
	broken chan struct{}
	lost   bool
}

// maxBehind is how many events may wait for a reader before the stream breaks.
const maxBehind = 500

// WatchPods implements pleg.Runtime. Like containerd, the runtime collects events
// only from some time after the call.
func (l *link) WatchPods(ctx context.Context, opened func(), changed func(status.PodChange)) error {
	w := l.world
	if !w.set.events {
		return status.ErrNoEvents
	}
	if err := l.pass(ctx, callWatch, ""); err != nil {
		return err
	}
	opened()
	w.mu.Lock()
	lazy := w.between("watch begins", 0, 2*time.Second)
	w.mu.Unlock()
	if err := l.sleep(ctx, lazy); err != nil {
		return err
	}
	stream := &watcher{events: make(chan status.PodChange, maxBehind), broken: make(chan struct{})}
	w.mu.Lock()
	w.runtime.watcher = stream
	w.mu.Unlock()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.gone:
			return errGone
		case <-stream.broken:
			return errTrouble
		case e := <-stream.events:
			w.mu.Lock()
			lag := w.lag("watch")
			w.mu.Unlock()
			if err := l.sleep(ctx, lag); err != nil {
				return err
			}
			changed(e)
		}
	}
}

// happened sends a change to the watch, unless that is lost or silent. mu is held.
func (w *world) happened(uid types.UID, id string, kind status.ChangeKind) {
	stream := w.runtime.watcher
	if stream == nil || stream.lost {
		return
	}
	if t := w.runtime.troubles[callWatch]; t.how == hang && time.Now().Before(t.until) {
		return // the stream is silent
	}
	select {
	case stream.events <- status.PodChange{UID: uid, ID: id, Kind: kind, At: w.clock.wall()}:
	default:
		w.cutWatch()
	}
}

// cutWatch breaks the stream of events. mu is held.
func (w *world) cutWatch() {
	if stream := w.runtime.watcher; stream != nil && !stream.lost {
		stream.lost = true
		close(stream.broken)
	}
}
