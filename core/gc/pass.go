package gc

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// pass starts a task for every pod of which something exists. If the runtime does not answer, pass
// does nothing, because it is unknown what still runs.
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
	there := map[types.UID]*status.ObservedPod{}
	for _, uid := range append(dirs, cgroups...) {
		there[uid] = nil
	}
	for i := range observed {
		there[observed[i].UID] = &observed[i]
	}
	if err := c.removeDanglingLinks(observed); err != nil {
		c.failed(ctx, "", "links to logs cannot be removed", err)
	}
	over := c.overTotal(observed)
	c.mu.Lock()
	maps.DeleteFunc(c.logged, func(_ string, last time.Time) bool { return time.Since(last) >= quiet })
	c.forgetRests()
	c.forgetKept(observed)
	c.forgetRemoved()
	maps.DeleteFunc(c.left, func(uid types.UID, _ string) bool {
		p, still := there[uid]
		return !still || p != nil
	})
	c.mu.Unlock()
	for uid, p := range there {
		c.begin(job{uid: uid, listed: true, observed: p, over: over})
	}
}

func (c *Collector) list(ctx context.Context) ([]status.ObservedPod, error) {
	ctx, cancel := context.WithTimeout(ctx, podTimeout)
	defer cancel()
	return c.cfg.Runtime.ListPods(ctx)
}

// overTotal returns the containers by which the pods that are kept exceed the limit of the node.
func (c *Collector) overTotal(observed []status.ObservedPod) map[string]bool {
	if c.cfg.Limits.Total < 0 {
		return nil
	}
	var living []*status.ObservedPod
	for i := range observed {
		if p := &observed[i]; !c.cfg.Pods.Removable(p.UID, p.Source()) {
			living = append(living, p)
		}
	}
	return c.cfg.Limits.overTotal(living, c.cfg.Now())
}

// task does the work for one pod. If it hangs, it delays only this pod and occupies one slot.
func (c *Collector) task(j job) {
	if j.emptied != nil {
		defer j.emptied()
	}
	defer c.end(j.uid)
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-c.draining.Done():
		return
	}
	ctx, cancel := context.WithTimeout(c.calls, podTimeout)
	defer cancel()
	err := c.collect(ctx, j)
	if err == nil {
		return
	}
	c.rest(j.uid)
	const what = "what a pod left cannot be removed"
	if errors.Is(err, status.ErrContainerStuck) { // to try again soon is useless
		c.warn(j.uid, what, err)
		return
	}
	c.failed(c.calls, j.uid, what, err)
}

// end lets the pod have another task, and starts one if it was requested in the meantime.
func (c *Collector) end(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy[uid] {
		c.due[uid] = true
		signal(c.wake)
	}
	delete(c.busy, uid)
}

// collect removes the pod or, if it is kept, its old objects.
func (c *Collector) collect(ctx context.Context, j job) error {
	uid, observed := j.uid, j.observed
	if !j.listed {
		var err error
		if observed, err = c.seen(ctx, uid); err != nil {
			return err
		}
	}
	owner, err := c.cfg.Volumes.Owner(uid)
	if observed == nil && errors.Is(err, pod.ErrUnmarked) {
		c.warn(uid, "what is not the agent's stays: move it elsewhere, or remove it by hand", err)
		return nil
	}
	var source string
	if err == nil {
		source = owner.Annotations[pod.AnnotationSource]
	}
	if observed != nil && observed.Source() != "" {
		source = observed.Source()
	}
	release, ok := c.claim(uid, source)
	c.leaves(uid, source, !ok && observed == nil)
	switch {
	case ok:
		defer release()
	case observed == nil:
		return nil
	case c.cfg.Over(uid) || j.emptied != nil:
		return c.empty(ctx, observed)
	default:
		return c.trim(ctx, observed, j.over)
	}
	return c.remove(ctx, uid, observed)
}

// seen returns a pod as it was last seen. For an unknown pod it asks the runtime, and returns nil
// if the runtime does not have it. An old observation is sufficient: exited instances do not run
// again, and nothing new is made for a removable pod.
func (c *Collector) seen(ctx context.Context, uid types.UID) (*status.ObservedPod, error) {
	if err := c.proceed(ctx); err != nil {
		return nil, err
	}
	known := c.cfg.Known()
	if i := slices.IndexFunc(known, func(p status.ObservedPod) bool { return p.UID == uid }); i >= 0 {
		p, there := c.stillThere(&known[i])
		if !there {
			return nil, nil
		}
		return p, nil
	}
	p, err := c.cfg.Runtime.InspectPod(ctx, uid)
	if err != nil {
		return nil, err
	}
	if len(p.Containers) == 0 && len(p.Sandboxes) == 0 {
		return nil, nil
	}
	return &p, nil
}

// leaves records whether a pod that the runtime does not have still exists and could not be removed
// yet.
func (c *Collector) leaves(uid types.UID, source string, left bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left {
		c.left[uid] = source
	} else {
		delete(c.left, uid)
	}
}
