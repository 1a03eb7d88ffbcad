package gc

import (
	"context"
	"errors"
	"maps"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// pass starts a task for every pod of which something is there. Where the
// runtime does not answer nothing is done, because then nobody knows what
// still runs.
func (c *Collector) pass(ctx context.Context) {
	observed, err := c.list(ctx)
	if err != nil {
		c.failed(ctx, "", "the runtime's pods cannot be listed", err)
		return
	}
	dirs, err := c.cfg.Volumes.Pods()
	if err != nil {
		c.failed(ctx, "", "pod directories cannot be listed", err)
	}
	cgroups, err := c.cfg.Cgroups.Pods()
	if err != nil {
		c.failed(ctx, "", "cgroups cannot be listed", err)
	}
	left := map[types.UID]*status.ObservedPod{}
	for _, uid := range append(dirs, cgroups...) {
		left[uid] = nil
	}
	for i := range observed {
		left[observed[i].UID] = &observed[i]
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.logged, func(_ string, last time.Time) bool { return time.Since(last) >= quiet })
	for uid, p := range left {
		if _, busy := c.busy[uid]; busy {
			c.busy[uid] = true
			continue
		}
		c.busy[uid] = false
		c.tasks.Go(func() { c.task(ctx, uid, p) })
	}
}

func (c *Collector) list(ctx context.Context) ([]status.ObservedPod, error) {
	ctx, cancel := context.WithTimeout(ctx, podTimeout)
	defer cancel()
	return c.cfg.Runtime.ListPods(ctx)
}

// task does what there is to do for one pod. A pod that hangs holds up only
// itself and one slot.
func (c *Collector) task(ctx context.Context, uid types.UID, observed *status.ObservedPod) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.busy[uid] {
			c.Nudge()
		}
		delete(c.busy, uid)
	}()
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return
	}
	stop, cancel := context.WithTimeout(ctx, podTimeout)
	defer cancel()
	if err := c.collect(stop, uid, observed); err != nil {
		c.failed(ctx, uid, "what a pod left cannot be removed", err)
	}
}

// collect removes the pod or, where it lives on, what is old of it.
func (c *Collector) collect(ctx context.Context, uid types.UID, observed *status.ObservedPod) error {
	owner, ownerErr := c.cfg.Volumes.Owner(uid)
	var source, logs string
	if ownerErr == nil {
		source = owner.Annotations[pod.AnnotationSource]
		logs = pod.LogDirName(owner.Namespace, owner.Name, uid)
	}
	if observed != nil {
		if s := observed.Source(); s != "" {
			source = s
		}
		logs = pod.LogDirName(observed.Namespace, observed.Name, uid)
	}
	release, ok := c.claim(uid, source)
	if !ok {
		if observed == nil {
			return nil
		}
		return c.trim(ctx, observed)
	}
	defer release()
	if logs == "" && !errors.Is(ownerErr, os.ErrNotExist) {
		c.warn(uid, "a pod directory does not say whose it is, logs of the pod may stay", ownerErr)
	}
	return c.remove(ctx, uid, observed, logs)
}
