package simulation

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/test/mutants"
)

// foreign is on while the runtime shows the agent what belongs to others: the world
// stands in for core/runtime here, which tells them apart.
var foreign = mutants.Register("runtime", map[string]bool{"foreign-pod-shown": true})

// ListPods implements pleg.Runtime and gc.Runtime. The picture is taken at some
// moment of the call.
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

// lag is how long it takes for a picture to arrive. mu is held.
func (w *world) lag(what string) time.Duration {
	if w.draw(what+" lags")%12 == 0 {
		return w.between(what+" lag", 0, 2*time.Second)
	}
	return w.between(what+" lag", 0, 10*time.Millisecond)
}

// observed is the group as an inspection shows it, or a list, which shows less.
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
