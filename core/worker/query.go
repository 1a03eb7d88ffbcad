package worker

import (
	"context"
	"errors"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// The queries answer for UIDs without a record too: until SyncKnownPods has been called, such a pod
// may still run something; afterwards it does not. The queries do not consider sources: the sync
// loop decides whether a pod without a record is wanted.

// query returns known for the record of a pod, or unknown if the pod has no record.
func (p *Pool) query(uid types.UID, known func(*record) bool, unknown func() bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if rec, ok := p.records[uid]; ok {
		return known(rec)
	}
	return unknown()
}

func never() bool { return false }

func (p *Pool) hasSynced() bool { return p.synced }

// notRunning returns the answer of a query whose result allows a removal, for a pod without a
// record: true if the pod runs nothing.
func (p *Pool) notRunning(uid types.UID) func() bool {
	return func() bool { return p.synced && !p.active(uid) }
}

// Has reports whether the pod has a worker.
func (p *Pool) Has(uid types.UID) bool {
	return p.query(uid, func(*record) bool { return true }, never)
}

// InRuntime reports whether the runtime has, or may have, something of the pod, running or
// ended.
func (p *Pool) InRuntime(uid types.UID) bool {
	observed, err := p.cfg.Cache.Get(uid)
	if err != nil || len(observed.Sandboxes)+len(observed.Containers) > 0 {
		return true
	}
	listed, _ := p.cfg.Cache.Pods()
	return slices.ContainsFunc(listed, func(o status.ObservedPod) bool { return o.UID == uid })
}

// KnownTerminated reports whether the pod's containers are known to have
// stopped for good.
func (p *Pool) KnownTerminated(uid types.UID) bool {
	return p.query(uid, func(r *record) bool { return r.state >= Terminated }, never)
}

// TerminationRequested reports whether the pod is being terminated or has been.
func (p *Pool) TerminationRequested(uid types.UID) bool {
	return p.query(uid, func(r *record) bool { return r.state > Syncing }, never)
}

// MayRunContainers reports whether something of the pod may run.
func (p *Pool) MayRunContainers(uid types.UID) bool {
	return p.query(uid, func(r *record) bool { return r.state < Terminated }, func() bool { return !p.synced })
}

// Stopping reports whether the pod's containers are being stopped or have been stopped.
func (p *Pool) Stopping(uid types.UID) bool {
	return p.query(uid, func(r *record) bool { return r.startedTerminating }, p.hasSynced)
}

// RuntimeRemovable reports whether the pod's cgroup and volumes may be removed.
func (p *Pool) RuntimeRemovable(uid types.UID) bool {
	return p.query(uid, func(r *record) bool { return r.state >= Terminated }, p.notRunning(uid))
}

// ContentRemovable reports whether what the pod leaves behind may be removed:
// dead containers, sandboxes, logs and directories.
func (p *Pool) ContentRemovable(uid types.UID) bool {
	return p.query(uid, func(r *record) bool {
		return (r.evicted || r.deleted) && r.state >= Terminated
	}, p.notRunning(uid))
}

// Done reports whether nothing is left to do for the pod.
func (p *Pool) Done(uid types.UID) bool {
	return p.query(uid, func(r *record) bool { return r.state == Finished }, p.hasSynced)
}

// observe returns an observation of the pod that is newer than after. If there is none yet, it
// requests an inspection and waits for its result. It never waits for the periodic list.
func (p *Pool) observe(ctx context.Context, uid types.UID, after time.Time) (status.ObservedPod, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(p.draining, cancel)()
	defer cancel()

	peek, end := context.WithCancel(ctx)
	end()
	observed, err := p.cfg.Cache.GetNewerThan(peek, uid, after)
	if !errors.Is(err, context.Canceled) {
		return observed, err
	}
	p.cfg.Inspector.Refresh(uid)
	return p.cfg.Cache.GetNewerThan(ctx, uid, after)
}

// active reports whether the runtime may still run something of the pod. If in doubt, it returns
// true.
func (p *Pool) active(uid types.UID) bool {
	if _, err := p.cfg.Cache.Get(uid); err != nil {
		return true
	}
	observed := p.lastObserved(uid)
	return observed.Active()
}

// lastObserved returns the last inspection of the pod. If that shows nothing running, it returns
// the pod from the last list: an inspection may have failed or may not have been made yet.
func (p *Pool) lastObserved(uid types.UID) status.ObservedPod {
	observed, _ := p.cfg.Cache.Get(uid)
	if observed.Active() {
		return observed
	}
	listed, _ := p.cfg.Cache.Pods()
	for i := range listed {
		if listed[i].UID == uid && listed[i].Active() {
			return listed[i]
		}
	}
	return observed
}

// ManifestChanged reports whether the sandbox of a static pod was made for a version of its
// manifest with other content. A new default set by a newer agent is not other content. A sandbox
// that does not record what it was made from counts as unchanged.
func (p *Pool) ManifestChanged(about *v1.Pod, from *api.Origin) bool {
	sandbox := p.sandboxAnnotations(about.UID)
	had := sandbox[pod.AnnotationMadeFrom]
	made, err := pod.MadeFrom(about)
	if err != nil || had == "" || made == had || !pod.IsStatic(about) {
		return false
	}
	instance := from.Instance
	if instance == "" {
		instance, err = pod.Instance(about)
	}
	return err == nil && instance != sandbox[pod.AnnotationInstance]
}

// sandboxAnnotations returns the annotations of the newest sandbox of a pod, ready or not, from the
// last inspection or list; nil for no sandbox.
func (p *Pool) sandboxAnnotations(uid types.UID) map[string]string {
	observed, _ := p.cfg.Cache.Get(uid)
	if len(observed.Sandboxes) == 0 {
		listed, _ := p.cfg.Cache.Pods()
		if i := slices.IndexFunc(listed, func(o status.ObservedPod) bool { return o.UID == uid }); i >= 0 {
			observed = listed[i]
		}
	}
	if len(observed.Sandboxes) == 0 {
		return nil
	}
	return observed.Sandboxes[0].Annotations
}
