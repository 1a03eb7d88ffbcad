package worker

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// SyncKnownPods tells the pool which pods are wanted and returns the state of every worker
// left. A pod that is not wanted is terminated. A finished record is removed, with all that is
// stored of the pod, if the pod is not wanted or was created again. A failed termination is
// tried again, also where the pod is wanted: the wanted one may be a held document with the
// same UID, or one of another source. A pod that waited for one that has gone without a worker
// is woken. It is to be called regularly.
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

// retryTermination starts another iteration of a failed termination that is due: the caller of
// Due may not know the pod, and then asks for none.
func (p *Pool) retryTermination(rec *record) {
	ending := rec.state == Terminating || rec.state == Terminated
	if ending && rec.cancel == nil && p.queue.popIfDue(rec.uid) {
		p.syncAgain(rec)
	}
}

// tryRemoveWorker terminates or removes the worker of a pod that has to go, and reports
// whether it is removed.
func (p *Pool) tryRemoveWorker(rec *record, orphan bool) bool {
	if rec.state == Finished {
		p.removeWorker(rec)
		return true
	}
	if !orphan {
		if rec.cancel == nil && rec.state > Syncing {
			// It is created again once it has ended, and nothing else asks for another try.
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
		// Nothing else asks for another try.
		p.syncAgain(rec)
	}
	return false
}

// removeWorker removes a pod, its worker and all that is stored of it.
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
	// Name and Namespace are those the runtime has for it.
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

// CancelStart removes a pod that has not started: its worker waits, and the runtime runs
// nothing of it. It reports whether it did; then the pod has no worker and no status any more.
// It does not block.
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
