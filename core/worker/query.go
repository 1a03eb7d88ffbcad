package worker

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// The queries answer for UIDs without a record too: until Known was called
// such a pod may still run something, afterwards it does not. They know
// nothing of sources: whether a pod without a record is wanted is the sync
// loop's to say.

// query answers of a record, or unknown where there is none.
func (p *Pool) query(uid types.UID, known func(*record) bool, unknown func() bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if rec, ok := p.records[uid]; ok {
		return known(rec)
	}
	return unknown()
}

func never() bool { return false }

func (p *Pool) afterSync() bool { return p.synced }

// gone is the answer for what must not be taken from a pod that still runs.
func (p *Pool) gone(uid types.UID) func() bool {
	return func() bool { return p.synced && !p.active(uid) }
}

// Has reports whether the pod has a worker.
func (p *Pool) Has(uid types.UID) bool {
	return p.query(uid, func(*record) bool { return true }, never)
}

// Remains reports whether the runtime has, or may have, something of the pod, be it
// something that has ended.
func (p *Pool) Remains(uid types.UID) bool {
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

// TerminationRequested reports whether the pod was asked to end.
func (p *Pool) TerminationRequested(uid types.UID) bool {
	return p.query(uid, func(r *record) bool { return r.state > Syncing }, never)
}

// MayRunContainers reports whether something of the pod may run.
func (p *Pool) MayRunContainers(uid types.UID) bool {
	return p.query(uid, func(r *record) bool { return r.state < Terminated }, func() bool { return !p.synced })
}

// Stopping reports whether the pod's containers are being, or have been,
// stopped.
func (p *Pool) Stopping(uid types.UID) bool {
	return p.query(uid, func(r *record) bool { return r.stopping }, p.afterSync)
}

// RuntimeRemovable reports whether what the pod runs in may be removed: its
// cgroup and its volumes.
func (p *Pool) RuntimeRemovable(uid types.UID) bool {
	return p.query(uid, func(r *record) bool { return r.state >= Terminated }, p.gone(uid))
}

// ContentRemovable reports whether what the pod leaves behind may be removed:
// dead containers, sandboxes, logs and directories.
func (p *Pool) ContentRemovable(uid types.UID) bool {
	return p.query(uid, func(r *record) bool {
		return (r.evicted || r.deleted) && r.state >= Terminated
	}, p.gone(uid))
}

// Done reports whether nothing is left to do for the pod.
func (p *Pool) Done(uid types.UID) bool {
	return p.query(uid, func(r *record) bool { return r.state == Finished }, p.afterSync)
}
