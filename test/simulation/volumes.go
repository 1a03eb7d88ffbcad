package simulation

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// images, volumes and cgroups are a link under three types, because their methods have the
// same names.
type (
	images  struct{ *link }
	volumes struct{ *link }
	cgroups struct{ *link }
)

// Ensure implements worker.Images.
func (i images) Ensure(ctx context.Context, p *v1.Pod, c *v1.Container) (string, error) {
	if err := i.pass(ctx, callImage, p.UID); err != nil {
		if ctx.Err() != nil || errors.Is(err, errGone) {
			return "", err
		}
		return "", &status.Fault{Reason: "ErrImagePull", Err: err}
	}
	return "sha256:" + c.Image, nil
}

// Setup implements worker.Volumes.
func (v volumes) Setup(ctx context.Context, p *v1.Pod) error {
	if err := v.pass(ctx, callSetup, p.UID); err != nil {
		return err
	}
	w := v.world
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runtime.volumes[p.UID] = true
	w.runtime.directories[p.UID] = directory{p.Namespace, p.Name, p.Annotations[pod.AnnotationSource]}
	return nil
}

// Mounts implements worker.Volumes.
func (v volumes) Mounts(p *v1.Pod, _ *v1.Container, _ func(string) (string, error)) ([]pod.Mount, error) {
	w := v.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.runtime.volumes[p.UID] && !v.dead {
		w.violated("the volumes of pod %s are gone while it starts", p.UID)
	}
	return nil, nil
}

// Teardown implements worker.Volumes and gc.Volumes.
func (v volumes) Teardown(ctx context.Context, uid types.UID) error {
	return v.giveBack(ctx, uid, "volumes", func(r *node) { delete(r.volumes, uid) })
}

// Remove implements gc.Volumes.
func (v volumes) Remove(ctx context.Context, uid types.UID) error {
	return v.giveBack(ctx, uid, "directory", func(r *node) { delete(r.directories, uid) })
}

// giveBack removes what a pod has on the node. It is a violation if the pod still runs.
func (l *link) giveBack(ctx context.Context, uid types.UID, what string, take func(*node)) error {
	if err := l.pass(ctx, callCleanUp, uid); err != nil {
		return err
	}
	w := l.world
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note("%s of %s go", what, uid)
	if w.runtime.group(uid).running() {
		w.violated("the %s of pod %s are taken away while it runs", what, uid)
	}
	take(&w.runtime)
	return nil
}

// Pods implements gc.Volumes.
func (v volumes) Pods() ([]types.UID, error) {
	w := v.world
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.runtime.directories)), nil
}

// Owner implements gc.Volumes.
func (v volumes) Owner(uid types.UID) (*v1.Pod, error) {
	w := v.world
	w.mu.Lock()
	defer w.mu.Unlock()
	d, ok := w.runtime.directories[uid]
	if !ok {
		return nil, os.ErrNotExist
	}
	p := &v1.Pod{}
	p.UID, p.Namespace, p.Name = uid, d.namespace, d.name
	p.Annotations = map[string]string{pod.AnnotationSource: d.source}
	return p, nil
}

// Ensure implements worker.Cgroups.
func (c cgroups) Ensure(p *v1.Pod) (string, error) {
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if !c.dead {
		w.runtime.cgroups[p.UID] = true
	}
	return "/wardlet/" + string(p.UID), nil
}

// Remove implements worker.Cgroups and gc.Cgroups.
func (c cgroups) Remove(ctx context.Context, uid types.UID) error {
	return c.giveBack(ctx, uid, "cgroups", func(r *node) { delete(r.cgroups, uid) })
}

// Pods implements gc.Cgroups.
func (c cgroups) Pods() ([]types.UID, error) {
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.runtime.cgroups)), nil
}
