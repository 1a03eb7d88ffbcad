package worker

import "k8s.io/apimachinery/pkg/types"

// start reports whether the pod may start. One that an earlier agent left
// running has started already. One that is to end before it started is
// finished. Other pods wait, if they are static, until no other pod of their
// full name is left.
func (p *Pool) start(rec *record) bool {
	if rec.name == "" {
		rec.started = true
		return true
	}
	switch {
	case p.active(rec.uid):
		p.gate.seize(rec.name, rec.uid)
	case rec.state != Syncing:
		p.finish(rec)
		return false
	case p.occupied(rec) || !p.gate.enter(rec.name, rec.uid, p.canStart):
		p.log.Info("pod waits until another of its name has ended", logPod(rec.pod, rec.uid)...)
		p.queue.add(rec.uid, p.cfg.Jitter(errorDelay))
		return false
	}
	rec.started = true
	return true
}

// canStart reports whether the pod with that UID may still come to start.
func (p *Pool) canStart(uid types.UID) bool {
	rec, known := p.records[uid]
	return known && rec.state == Syncing
}

// occupied reports whether a pod of the same full name runs that was left by
// an earlier agent and has not started here.
func (p *Pool) occupied(rec *record) bool {
	listed, _ := p.cfg.Cache.Pods()
	for i := range listed {
		o := &listed[i]
		if o.UID == rec.uid || o.Name != rec.pod.Name || o.Namespace != rec.pod.Namespace || !o.Active() {
			continue
		}
		if other, known := p.records[o.UID]; !known || !other.started {
			return true
		}
	}
	return false
}

// leave frees the pod's full name and wakes who waits for it.
func (p *Pool) leave(rec *record) {
	if rec.name == "" {
		return
	}
	for _, uid := range p.gate.leave(rec.name, rec.uid) {
		if next, known := p.records[uid]; known {
			next.poke()
		}
	}
}
