package worker

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// startGate lets static pods of one full name run one after the other: the
// next starts only when the one before has left, that is, when its containers,
// volumes and cgroup are gone. It is guarded by the pool's lock.
type startGate struct {
	// holders are several only where an earlier agent left them so, or where it is
	// in doubt which of them runs.
	holders map[string][]types.UID
	waiting map[string][]types.UID
}

func newStartGate() startGate {
	return startGate{holders: map[string][]types.UID{}, waiting: map[string][]types.UID{}}
}

// join puts uid at the end of the line for name.
func (g *startGate) join(name string, uid types.UID) {
	g.waiting[name] = append(g.waiting[name], uid)
}

// enter reports whether uid holds name now: it does when nobody else holds it
// and nobody who can still start is before it in the line. Those who cannot
// (live is false) lose their place.
func (g *startGate) enter(name string, uid types.UID, live func(types.UID) bool) bool {
	if holders := g.holders[name]; len(holders) > 0 {
		return slices.Contains(holders, uid)
	}
	line := slices.DeleteFunc(g.waiting[name], func(w types.UID) bool { return w != uid && !live(w) })
	set(g.waiting, name, line)
	if len(line) == 0 || line[0] != uid {
		return false
	}
	g.seize(name, uid)
	return true
}

// seize gives name to uid, out of turn, beside those who hold it. The empty name is
// everybody's.
func (g *startGate) seize(name string, uid types.UID) {
	if name == "" {
		return
	}
	if !slices.Contains(g.holders[name], uid) {
		g.holders[name] = append(g.holders[name], uid)
	}
	set(g.waiting, name, without(g.waiting[name], uid))
}

// leave takes uid out of the line and of those who hold the name, and gives who
// waits for it.
func (g *startGate) leave(name string, uid types.UID) []types.UID {
	set(g.holders, name, without(g.holders[name], uid))
	set(g.waiting, name, without(g.waiting[name], uid))
	return g.waiting[name]
}

// set leaves no empty line behind.
func set(lines map[string][]types.UID, name string, line []types.UID) {
	if len(line) == 0 {
		delete(lines, name)
		return
	}
	lines[name] = line
}

func without(line []types.UID, uid types.UID) []types.UID {
	return slices.DeleteFunc(line, func(w types.UID) bool { return w == uid })
}

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
