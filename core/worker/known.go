package worker

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// Known tells the pool which pods are wanted and gives the state of every
// worker there is then. A pod that is not wanted is ended; records that are
// finished go, if their pod is not wanted or was created again meanwhile, and
// with them all that is remembered of the pod. An end that has failed is tried
// again, also where the pod is wanted: that may be another document with its UID,
// which is held, or another source's. It is to be called regularly.
func (p *Pool) Known(wanted func(types.UID) bool) map[types.UID]State {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return nil
	}
	p.synced = true
	workers := make(map[types.UID]State, len(p.records))
	for uid, rec := range p.records {
		orphan := !wanted(uid)
		goes := orphan || rec.restart
		if goes && p.tryRemove(rec, orphan) {
			continue
		}
		if !goes {
			p.retryEnd(rec)
		}
		workers[uid] = rec.state
	}
	return workers
}

// retryEnd takes another turn at an end that has failed, when its time has come:
// whoever takes what is due may have no such pod, and asks for nothing.
func (p *Pool) retryEnd(rec *record) {
	ending := rec.state == Terminating || rec.state == Terminated
	if ending && rec.cancel == nil && p.queue.takeDue(rec.uid) {
		p.again(rec)
	}
}

// tryRemove moves a record that has to go on its way, and reports whether it
// is gone.
func (p *Pool) tryRemove(rec *record, orphan bool) bool {
	if rec.state == Finished {
		p.remove(rec)
		return true
	}
	if !orphan {
		if rec.cancel == nil && rec.state > Syncing {
			// It comes back once it has ended, and nobody else asks for another try.
			p.again(rec)
		}
		return false
	}
	rec.deleted = true
	switch {
	case !rec.started && !p.active(rec.uid):
		p.remove(rec)
		return true
	case rec.state == Syncing:
		rec.end(p.cfg.Now(), nil)
		p.again(rec)
		if rec.cancel != nil {
			rec.cancel()
		}
	case rec.cancel == nil:
		// Nobody else asks for another try.
		p.again(rec)
	}
	return false
}

// remove forgets a pod.
func (p *Pool) remove(rec *record) {
	delete(p.records, rec.uid)
	rec.release()
	rec.retire()
	p.leave(rec)
	p.queue.forget(rec.uid)
	p.backoff.forget(rec.uid)
	p.over(rec, true)
	p.cfg.Statuses.Delete(rec.uid)
	if rec.pod != nil {
		for i := range rec.pod.Spec.Containers {
			p.cfg.Reasons.Remove(rec.uid, rec.pod.Spec.Containers[i].Name)
		}
	}
	if p.cfg.Gone != nil {
		p.cfg.Gone(rec.uid)
	}
}

// Stray is a pod that runs although it has no worker.
type Stray struct {
	UID types.UID
	// Name and Namespace are those the runtime has for it.
	Name      string
	Namespace string
	// Source is the source its sandbox was made for, empty if it has none.
	Source   string
	observed status.ObservedPod
}

// KillStray ends a stray.
func (p *Pool) KillStray(s *Stray) { p.Update(Request{Kind: Kill, Observed: &s.observed}) }

// Strays are the pods of the last full list that run and have no worker.
func (p *Pool) Strays() []Stray {
	listed, _ := p.cfg.Cache.Pods()
	p.mu.Lock()
	defer p.mu.Unlock()
	var strays []Stray
	for i := range listed {
		o := &listed[i]
		if _, known := p.records[o.UID]; known || !o.Active() {
			continue
		}
		strays = append(strays, Stray{
			UID: o.UID, Name: o.Name, Namespace: o.Namespace, Source: o.Source(), observed: *o,
		})
	}
	return strays
}

// Withdraw takes back a pod of which nothing has begun: whose worker has not started,
// and of which the runtime runs nothing. It reports whether it did; then the pod has no
// worker and no status any more. It does not block.
func (p *Pool) Withdraw(uid types.UID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	rec, known := p.records[uid]
	if p.stopped || !known || rec.state != Syncing || rec.started || p.active(uid) {
		return false
	}
	p.remove(rec)
	return true
}
