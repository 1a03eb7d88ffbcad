package main

import (
	"context"
	"log/slog"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pleg"
	"github.com/wardlet/wardlet/core/status"
)

// newWardlet starts our generator, and returns a function that makes one list. ended is closed when
// the generator has stopped after ctx.
func newWardlet(ctx context.Context, pods int) (list func() error, ended <-chan struct{}) {
	r := &ownRuntime{byUID: map[types.UID]status.ObservedPod{}}
	for i := range pods {
		p := status.ObservedPod{UID: podUID(i), Name: name("pod", i), Namespace: "default"}
		p.Sandboxes = []status.ObservedSandbox{{ID: id("sandbox", i), Ready: true}}
		for _, c := range []string{"main", "sidecar"} {
			p.Containers = append(p.Containers, status.ObservedContainer{ID: id(c, i), Name: c, State: status.StateRunning})
		}
		r.pods = append(r.pods, p)
		r.byUID[p.UID] = p
	}
	g := pleg.New(pleg.Config{
		Runtime: r, Cache: pleg.NewCache(), Logger: slog.New(slog.DiscardHandler), Now: time.Now, Period: time.Hour,
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = g.Run(ctx)
	}()
	return func() error { return g.Relist(ctx) }, done
}

// ownRuntime returns prepared pods.
type ownRuntime struct {
	pods  []status.ObservedPod
	byUID map[types.UID]status.ObservedPod
}

func (r *ownRuntime) ListPods(context.Context) ([]status.ObservedPod, error) { return r.pods, nil }

func (r *ownRuntime) InspectPod(_ context.Context, uid types.UID) (status.ObservedPod, error) {
	return r.byUID[uid], nil
}

func (r *ownRuntime) WatchPods(context.Context, func(), func(status.PodChange)) error {
	return status.ErrNoEvents
}
