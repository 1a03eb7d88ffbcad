package pleg

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// crowded is a runtime in which many pods run.
type crowded []status.ObservedPod

func (c crowded) ListPods(context.Context) ([]status.ObservedPod, error) { return c, nil }

func (c crowded) InspectPod(_ context.Context, uid types.UID) (status.ObservedPod, error) {
	return c[slices.IndexFunc(c, func(p status.ObservedPod) bool { return p.UID == uid })], nil
}

func (crowded) WatchPods(ctx context.Context, _ func(), _ func(status.PodChange)) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestWhoIsToldThatAllIsWellFindsTheList is about the moment of the first list: whoever
// waits for it takes what is not in the cache for not running.
func TestWhoIsToldThatAllIsWellFindsTheList(t *testing.T) {
	t.Parallel()
	var pods crowded
	for i := range 200 {
		uid := types.UID(fmt.Sprint("u", i))
		pods = append(pods, status.ObservedPod{UID: uid, Name: string(uid), Sandboxes: []status.ObservedSandbox{{ID: string(uid), Ready: true}}})
	}
	for range 50 {
		cache := NewCache()
		g := New(Config{Runtime: pods, Cache: cache, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = g.Run(ctx)
		}()
		for g.Healthy() != nil {
			runtime.Gosched()
		}
		if listed, _ := cache.Pods(); len(listed) != len(pods) {
			t.Errorf("the generator is healthy, and the cache has %d pods of %d", len(listed), len(pods))
		}
		cancel()
		<-ended
	}
}
