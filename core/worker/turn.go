package worker

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// nameQueue makes static pods of one full name run one after the other: the next one starts only
// when the containers, volumes and cgroup of the one before are gone. The pool's lock guards it.
type nameQueue struct {
	// holders of one name are several only if an earlier agent left several, or if it is in doubt
	// which of them runs.
	holders map[string][]types.UID
	waiting map[string][]types.UID
}

func newNameQueue() nameQueue {
	return nameQueue{holders: map[string][]types.UID{}, waiting: map[string][]types.UID{}}
}

// enqueue adds uid to the end of the queue for name.
func (q *nameQueue) enqueue(name string, uid types.UID) {
	q.waiting[name] = append(q.waiting[name], uid)
}

// tryAcquire reports whether uid holds name now. If name has no holders, uid acquires it if it is
// the first in the queue. UIDs for which live is false lose their place.
func (q *nameQueue) tryAcquire(name string, uid types.UID, live func(types.UID) bool) bool {
	if holders := q.holders[name]; len(holders) > 0 {
		return slices.Contains(holders, uid)
	}
	line := slices.DeleteFunc(q.waiting[name], func(w types.UID) bool { return w != uid && !live(w) })
	setOrDelete(q.waiting, name, line)
	if len(line) == 0 || line[0] != uid {
		return false
	}
	q.acquire(name, uid)
	return true
}

// acquire makes uid a holder of name, out of turn and in addition to other holders. The empty name
// has no holders.
func (q *nameQueue) acquire(name string, uid types.UID) {
	if name == "" {
		return
	}
	if !slices.Contains(q.holders[name], uid) {
		q.holders[name] = append(q.holders[name], uid)
	}
	setOrDelete(q.waiting, name, without(q.waiting[name], uid))
}

// release removes uid from the holders and the queue of name, and returns the UIDs that still
// wait for it.
func (q *nameQueue) release(name string, uid types.UID) []types.UID {
	setOrDelete(q.holders, name, without(q.holders[name], uid))
	setOrDelete(q.waiting, name, without(q.waiting[name], uid))
	return q.waiting[name]
}

// setOrDelete stores a queue, and deletes an empty one.
func setOrDelete(lines map[string][]types.UID, name string, line []types.UID) {
	if len(line) == 0 {
		delete(lines, name)
		return
	}
	lines[name] = line
}

func without(line []types.UID, uid types.UID) []types.UID {
	return slices.DeleteFunc(line, func(w types.UID) bool { return w == uid })
}

// tryStart reports whether the pod may start. A pod that an earlier agent left running has started
// already. A pod that is terminated before it started is finished at once, but one that its source
// still has publishes its status first. Other pods wait until the pod that they replace is gone. Static pods
// also wait until no other pod of their full name is left.
func (p *Pool) tryStart(rec *record) bool {
	switch {
	case rec.fullName == "" && rec.replaces == "":
	case rec.state != Syncing && !p.active(rec.uid) && !rec.evicted && !rec.nodeShutdown:
		p.finishWorker(rec)
		return false
	case rec.state != Syncing && !p.active(rec.uid):
		// Nothing of it runs, but its outcome is published, and kept for the next agent.
		rec.state = Terminated
	case rec.state != Syncing, p.willAdopt(rec.uid):
		p.names.acquire(rec.fullName, rec.uid)
	default:
		if why := p.startBlocker(rec); why != "" {
			p.log.Info("pod waits", append(logPod(rec.pod, rec.uid), "why", why)...)
			p.publishWaiting(rec, why)
			p.queue.add(rec.uid, p.cfg.Jitter(errorDelay))
			return false
		}
	}
	rec.started = true
	return true
}

// willAdopt reports whether a worker that has not started will adopt a running pod of an earlier
// agent: then it acquires its name out of turn.
func (p *Pool) willAdopt(uid types.UID) bool {
	observed := p.lastObserved(uid)
	return observed.Running()
}

// startBlocker returns why the pod has to wait for another one. If it returns "", the pod may start
// and holds its name.
func (p *Pool) startBlocker(rec *record) string {
	rec.blocked = true
	if p.mustWaitForReplaced(rec) {
		return "starts when the pod whose place it takes has ended, uid " + string(rec.replaces)
	}
	rec.blocked = p.nameInUse(rec)
	if rec.fullName != "" && (rec.blocked || !p.names.tryAcquire(rec.fullName, rec.uid, p.canStart)) {
		return "starts when another pod of its name has ended; static pods of one name run one after the other"
	}
	return ""
}

// mustWaitForReplaced reports whether the pod that rec replaces is still terminating.
func (p *Pool) mustWaitForReplaced(rec *record) bool {
	return rec.replaces != "" && rec.replaces != rec.uid && p.isTerminating(rec.replaces)
}

// wakeIfFree wakes a pod that waited for a pod that only the runtime knows, once nothing of that
// pod runs any more. Such a pod has no worker that could wake others.
func (p *Pool) wakeIfFree(rec *record) {
	if rec.blocked && !p.mustWaitForReplaced(rec) && !p.nameInUse(rec) {
		rec.blocked = false
		rec.notify()
	}
}

// isTerminating reports whether the pod exists but will not stay: it is being terminated, or only
// the runtime knows it.
func (p *Pool) isTerminating(uid types.UID) bool {
	rec, known := p.records[uid]
	if !known {
		return p.active(uid)
	}
	return rec.state == Terminating || rec.state == Terminated
}

// canStart reports whether the pod with that UID may still start later.
func (p *Pool) canStart(uid types.UID) bool {
	rec, known := p.records[uid]
	return known && rec.state == Syncing
}

// nameInUse reports whether an earlier agent left a static pod of the same full name that is not in
// the queue of that name. Such a pod runs and its worker has not started it, or it is being
// terminated and never got a worker in this agent. The source of a pod is read from its sandbox.
func (p *Pool) nameInUse(rec *record) bool {
	if rec.fullName == "" {
		return false
	}
	for uid, other := range p.records {
		if other.fullName == rec.fullName && uid != rec.uid && !other.started && other.state == Syncing && p.willAdopt(uid) {
			return true
		}
	}
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
		case other.started, other.state == Syncing: // it is in the queue of its name
		default:
			return true
		}
	}
	return false
}

// addSuccessors registers the pods that already wait for this one since before it had a record. It
// registers this one as a successor of the pods of its name that only the runtime knows. The queue
// of the name contains none of these. It also wakes waiting pods of the same name, which this one
// may have blocked.
func (p *Pool) addSuccessors(rec *record, observed *status.ObservedPod) {
	name := ""
	if rec.pod == nil {
		name = runtimeFullName(observed)
	}
	for uid, other := range p.records {
		if rec.fullName != "" && other.pod == nil && runtimeFullName(other.observed) == rec.fullName {
			p.successors[uid] = append(p.successors[uid], rec.uid)
		}
		if rec.fullName != "" && other.fullName == rec.fullName && !other.started {
			other.notify()
		}
		if other.started || uid == rec.uid || other.replaces != rec.uid && (name == "" || other.fullName != name) {
			continue
		}
		p.successors[rec.uid] = append(p.successors[rec.uid], uid)
	}
}

// runtimeFullName returns the full name of a pod as the runtime shows it, empty for none.
func runtimeFullName(observed *status.ObservedPod) string {
	if observed == nil {
		return ""
	}
	return pod.FullName(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: observed.Name, Namespace: observed.Namespace}})
}

// wakeSuccessors releases the full name of the pod and wakes the pods that wait for it.
func (p *Pool) wakeSuccessors(rec *record) {
	waiting := p.successors[rec.uid]
	delete(p.successors, rec.uid)
	if rec.fullName != "" {
		waiting = append(waiting, p.names.release(rec.fullName, rec.uid)...)
	}
	for _, uid := range waiting {
		if next, known := p.records[uid]; known {
			next.notify()
		}
	}
}
