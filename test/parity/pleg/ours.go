package pleg

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pleg"
	"github.com/wardlet/wardlet/core/status"
)

// ours is Wardlet's generator with its cache, without the runtime's events.
type ours struct {
	generator *pleg.Generator
	cache     *pleg.Cache
	runtime   *ownRuntime
	cancel    context.CancelFunc
	running   sync.WaitGroup
}

// newOurs returns a generator that lists every second from now on.
func newOurs(w *world) *ours {
	ctx, cancel := context.WithCancel(context.Background())
	o := &ours{cache: pleg.NewCache(), runtime: &ownRuntime{world: w}, cancel: cancel}
	o.generator = pleg.New(pleg.Config{
		Runtime: o.runtime, Cache: o.cache, Logger: slog.New(slog.DiscardHandler), Now: time.Now, MaxInspect: 1000,
	})
	o.running.Go(func() { _ = o.generator.Run(ctx) })
	return o
}

func (o *ours) stop() {
	o.cancel()
	o.running.Wait()
}

// told returns the events since the last call, by pod.
func (o *ours) told() map[types.UID][]string {
	out := map[types.UID][]string{}
	for len(o.generator.Events()) > 0 {
		e := <-o.generator.Events()
		out[e.UID] = append(out[e.UID], fmt.Sprintf("%s %s", e.Type, e.ContainerID))
	}
	return out
}

// get returns the state of a pod in the cache.
func (o *ours) get(uid types.UID) view { return viewOfOurs(o.cache.Get(uid)) }

// newer returns the state in the cache if it is newer than at, and whether it is. It does not
// request an inspection.
func (o *ours) newer(uid types.UID, at time.Time) (view, bool) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p, err := o.cache.GetNewerThan(ctx, uid, at)
	if err != nil && ctx.Err() != nil && isCanceled(err) {
		return view{}, false
	}
	return viewOfOurs(p, err), true
}

func viewOfOurs(p status.ObservedPod, err error) view {
	v := view{failed: err != nil, addresses: p.IPs}
	for i := range p.Containers {
		v.containers = append(v.containers, part{p.Containers[i].ID, p.Containers[i].State})
	}
	for i := range p.Sandboxes {
		state := status.StateExited
		if p.Sandboxes[i].Ready {
			state = status.StateRunning
		}
		v.sandboxes = append(v.sandboxes, part{p.Sandboxes[i].ID, state})
	}
	return v
}

// ownRuntime implements our generator's runtime with the world.
type ownRuntime struct {
	world     *world
	inspected inspections
}

func (r *ownRuntime) ListPods(context.Context) ([]status.ObservedPod, error) {
	r.world.mu.Lock()
	defer r.world.mu.Unlock()
	if r.world.listFail {
		return nil, errList
	}
	var pods []status.ObservedPod
	for _, uid := range r.world.uids() {
		pods = append(pods, r.world.observed(uid))
	}
	return pods, nil
}

func (r *ownRuntime) InspectPod(_ context.Context, uid types.UID) (status.ObservedPod, error) {
	r.inspected.add(uid)
	r.world.mu.Lock()
	defer r.world.mu.Unlock()
	p := r.world.pods[uid]
	if p == nil {
		return status.ObservedPod{UID: uid}, nil
	}
	if p.fails {
		return status.ObservedPod{}, errInspect
	}
	out := r.world.observed(uid)
	out.IPs = p.addresses()
	return out, nil
}

func (r *ownRuntime) WatchPods(context.Context, func(), func(status.PodChange)) error {
	return status.ErrNoEvents
}

func (w *world) observed(uid types.UID) status.ObservedPod {
	p := w.pods[uid]
	out := status.ObservedPod{UID: uid, Name: string(uid), Namespace: "default"}
	for _, c := range p.containers {
		out.Containers = append(out.Containers, status.ObservedContainer{ID: c.id, State: c.state})
	}
	for _, s := range p.sandboxes {
		out.Sandboxes = append(out.Sandboxes, status.ObservedSandbox{ID: s.id, Ready: s.state == status.StateRunning})
	}
	return out
}
