package worker

import "k8s.io/apimachinery/pkg/types"

// start reports whether the pod may start. One that an earlier agent left
// running has started already. One that is to end before it started is
// finished. Other pods wait until the one whose place they take has left and,
// if they are static, until no other pod of their full name is left.
func (p *Pool) start(rec *record) bool {
	switch {
	case rec.name == "" && rec.after == "", p.active(rec.uid):
		p.gate.seize(rec.name, rec.uid)
	case rec.state != Syncing:
		p.finish(rec)
		return false
	default:
		if why := p.predecessor(rec); why != "" {
			p.log.Info("pod waits", append(logPod(rec.pod, rec.uid), "why", why)...)
			p.showWaiting(rec, why)
			p.queue.add(rec.uid, p.cfg.Jitter(errorDelay))
			return false
		}
	}
	rec.started = true
	return true
}

// predecessor says for which pod this one has to wait, empty for none.
func (p *Pool) predecessor(rec *record) string {
	if rec.after != "" && rec.after != rec.uid && p.leaving(rec.after) {
		return "starts when the pod whose place it takes has ended, uid " + string(rec.after)
	}
	if rec.name != "" && (p.occupied(rec) || !p.gate.enter(rec.name, rec.uid, p.canStart)) {
		return "starts when another pod of its name has ended; static pods of one name run one after the other"
	}
	return ""
}

// leaving reports whether the pod with that UID is there and not to stay: it is
// being ended, or only the runtime knows it. One that is wanted itself is not
// waited for.
func (p *Pool) leaving(uid types.UID) bool {
	rec, known := p.records[uid]
	if !known {
		return p.active(uid)
	}
	return rec.state == Terminating || rec.state == Terminated
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

// leave frees the pod's full name and wakes who waits for it or for the pod.
func (p *Pool) leave(rec *record) {
	waiting := p.followers[rec.uid]
	delete(p.followers, rec.uid)
	if rec.name != "" {
		waiting = append(waiting, p.gate.leave(rec.name, rec.uid)...)
	}
	for _, uid := range waiting {
		if next, known := p.records[uid]; known {
			next.poke()
		}
	}
}
