package worker

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// SyncKnownPods informs the pool which pods are wanted and returns the state of every worker that
// is left. A pod that is not wanted is terminated. A finished record is removed, with all that is
// stored about the pod, if the pod is not wanted or was created again. A failed termination is
// tried again, even if the UID is wanted: the wanted pod may be a held document with the same UID,
// or a document of another source. A pod is woken if the pod that it waited for is gone and had no
// worker. SyncKnownPods has to be called regularly.
func (p *Pool) SyncKnownPods(wanted func(types.UID) bool) map[types.UID]State {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return nil
	}
	p.synced = true
	workers := make(map[types.UID]State, len(p.records))
	for uid, rec := range p.records {
		orphan := !wanted(uid)
		goes := orphan || rec.restartRequested
		if goes && p.tryRemoveWorker(rec, orphan) {
			continue
		}
		if !goes {
			p.retryTermination(rec)
			p.wakeIfFree(rec)
		}
		workers[uid] = rec.state
	}
	return workers
}

// retryTermination starts another iteration for a failed termination that is due: the caller of Due
// may not know the pod, and then submits no Sync for it.
func (p *Pool) retryTermination(rec *record) {
	ending := rec.state == Terminating || rec.state == Terminated
	if ending && rec.cancel == nil && p.queue.popIfDue(rec.uid) {
		p.syncAgain(rec)
	}
}

// tryRemoveWorker terminates the pod or removes its worker, and reports whether it removed the
// worker.
func (p *Pool) tryRemoveWorker(rec *record, orphan bool) bool {
	if rec.state == Finished {
		p.removeWorker(rec)
		return true
	}
	if !orphan {
		if rec.cancel == nil && rec.state > Syncing {
			// The pod is created again once it has terminated, and nothing else retries its
			// termination.
			p.syncAgain(rec)
		}
		return false
	}
	rec.deleted = true
	switch {
	case !rec.started && !p.active(rec.uid):
		p.removeWorker(rec)
		return true
	case rec.state == Syncing:
		rec.terminate(p.cfg.Now(), nil)
		p.syncAgain(rec)
		if rec.cancel != nil {
			rec.cancel()
		}
	case rec.cancel == nil:
		// Nothing else retries the termination.
		p.syncAgain(rec)
	}
	return false
}

// removeWorker removes a pod, its worker and all that is stored about it.
func (p *Pool) removeWorker(rec *record) {
	delete(p.records, rec.uid)
	rec.notifyWaiters()
	rec.closeWake()
	p.wakeSuccessors(rec)
	p.queue.remove(rec.uid)
	p.backoff.forget(rec.uid)
	p.finishTermination(rec, true)
	p.cfg.Probes.Remove(rec.uid)
	p.cfg.Statuses.Delete(rec.uid)
	if rec.pod != nil {
		for c := range pod.Containers(rec.pod) {
			p.cfg.Reasons.Remove(rec.uid, c.Name)
		}
	}
	if p.cfg.OnRemoved != nil {
		p.cfg.OnRemoved(rec.uid)
	}
}

// Orphan is a pod that runs although it has no worker.
type Orphan struct {
	UID types.UID
	// Name and Namespace are those that the runtime shows.
	Name      string
	Namespace string
	// Source is the source its sandbox was made for, empty if it has none.
	Source   string
	observed status.ObservedPod
}

// KillOrphan terminates an orphan.
func (p *Pool) KillOrphan(o *Orphan) { p.Submit(Request{Kind: Kill, Observed: &o.observed}) }

// Orphans returns the pods of the last full list that run and have no worker.
func (p *Pool) Orphans() []Orphan {
	listed, _ := p.cfg.Cache.Pods()
	p.mu.Lock()
	defer p.mu.Unlock()
	var orphans []Orphan
	for i := range listed {
		o := &listed[i]
		if _, known := p.records[o.UID]; known || !o.Active() {
			continue
		}
		orphans = append(orphans, Orphan{
			UID: o.UID, Name: o.Name, Namespace: o.Namespace, Source: o.Source(), observed: *o,
		})
	}
	return orphans
}

// CancelStart removes a pod that has not started: its worker waits, and the runtime runs nothing of
// it. It reports whether it removed the pod, which then has no worker and no status any more. It
// does not block.
func (p *Pool) CancelStart(uid types.UID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	rec, known := p.records[uid]
	if p.stopped || !known || rec.state != Syncing || rec.started || p.active(uid) {
		return false
	}
	p.removeWorker(rec)
	return true
}
