package worker

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// start reports whether the pod may start. One of which an earlier agent left
// something running has started already. One that is to end before it started is
// finished, but one that was pushed out says so first. Other pods wait until the one
// whose place they take has left and, if they are static, until no other pod of their
// full name is left.
func (p *Pool) start(rec *record) bool {
	observed := p.shown(rec.uid)
	switch {
	case rec.name == "" && rec.after == "":
	case rec.state != Syncing && !p.active(rec.uid) && !rec.evicted:
		p.finish(rec)
		return false
	case rec.state != Syncing && !p.active(rec.uid):
		// Nothing of it runs, but how it ended is shown, and kept for the next agent.
		rec.state = Terminated
	case rec.state != Syncing, observed.Running():
		p.gate.seize(rec.name, rec.uid)
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

// predecessor says for which pod this one has to wait, empty for none; then it has
// its name.
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

// occupied reports whether there is a static pod of the same full name that was left
// by an earlier agent and that the start gate does not know: it runs and has not
// started here, or is being ended without ever having been known. For which source
// a pod was made, its sandbox says.
func (p *Pool) occupied(rec *record) bool {
	listed, _ := p.cfg.Cache.Pods()
	for i := range listed {
		o := &listed[i]
		if o.UID == rec.uid || o.Name != rec.pod.Name || o.Namespace != rec.pod.Namespace || !o.Active() || o.Source() == pod.SourceAPI {
			continue
		}
		other, known := p.records[o.UID]
		switch {
		case !known, other.pod == nil:
			return true
		case other.started: // the start gate knows it
		case other.state == Syncing && !o.Running(): // it is in the line itself
		default:
			return true
		}
	}
	return false
}

// awaited has the pods woken, when this one leaves, that wait already: since
// before it had a record, when only the runtime knew it. And it has this one woken
// when those of its name leave that only the runtime knows: the start gate knows
// none of these. Those of its name that wait look again at once: it may have been
// this one that was in their way.
func (p *Pool) awaited(rec *record, observed *status.ObservedPod) {
	name := ""
	if rec.pod == nil {
		name = nameOf(observed)
	}
	for uid, other := range p.records {
		if rec.name != "" && other.pod == nil && nameOf(other.observed) == rec.name {
			p.followers[uid] = append(p.followers[uid], rec.uid)
		}
		if rec.name != "" && other.name == rec.name && !other.started {
			other.poke()
		}
		if other.started || uid == rec.uid || other.after != rec.uid && (name == "" || other.name != name) {
			continue
		}
		p.followers[rec.uid] = append(p.followers[rec.uid], uid)
	}
}

// nameOf is the full name of a pod as the runtime shows it, empty for none.
func nameOf(observed *status.ObservedPod) string {
	if observed == nil {
		return ""
	}
	return pod.FullName(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: observed.Name, Namespace: observed.Namespace}})
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
