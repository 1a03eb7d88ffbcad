package syncloop

import (
	"cmp"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/worker"
)

// user is a pod that uses the node.
type user struct {
	pod *v1.Pod
	// ending: it is being ended. removed: the set has it no more.
	ending, removed bool
	// left is how much it has of its grace period, where it is being ended.
	left time.Duration
}

// users are the pods that use the node, by UID: those that were admitted and have
// not ended, those that are being ended, also where nobody wants them any more, and
// what runs from an earlier agent and has not come yet.
func (l *Loop) users() []user {
	known := map[types.UID]bool{}
	var users []user
	take := func(u user) {
		if !known[u.pod.UID] {
			known[u.pod.UID] = true
			users = append(users, u)
		}
	}
	ending := l.cfg.Workers.Ending()
	left := l.left(ending)
	for uid, m := range l.pods.all() {
		if l.active(m) {
			take(user{pod: m.pod, ending: l.cfg.Workers.TerminationRequested(uid), left: left[uid]})
		}
	}
	for _, e := range ending {
		if !l.cfg.Workers.KnownTerminated(e.Pod.UID) {
			take(user{pod: e.Pod, ending: true, removed: true, left: left[e.Pod.UID]})
		}
	}
	for _, p := range l.expected() {
		take(user{pod: p})
	}
	slices.SortFunc(users, byUID)
	return users
}

func byUID(a, b user) int { return cmp.Compare(a.pod.UID, b.pod.UID) }

// left is how much pods that are being ended have of their grace period, by UID.
func (l *Loop) left(ending []worker.Ending) map[types.UID]time.Duration {
	left := make(map[types.UID]time.Duration, len(ending))
	now := l.cfg.Now()
	for _, e := range ending {
		left[e.Pod.UID] = max(seconds(e.Grace)-now.Sub(e.Since), 0)
	}
	return left
}

// expected are pods that an earlier agent left running and that are wanted, but are
// not in the set yet.
func (l *Loop) expected() []*v1.Pod {
	running := map[types.UID]bool{}
	for _, s := range l.cfg.Workers.Strays() {
		if !l.pods.has(s.UID) {
			running[s.UID] = true
		}
	}
	if len(running) == 0 {
		return nil
	}
	var expected []*v1.Pod
	for _, d := range l.cfg.Desired.Pods() {
		if running[d.Pod.UID] && !pod.IsMirror(d.Pod) {
			expected = append(expected, d.Pod)
		}
	}
	return expected
}

// active reports whether the pod may use the node: it is still being ended, or
// was admitted and has not ended.
func (l *Loop) active(m member) bool {
	if l.cfg.Workers.KnownTerminated(m.pod.UID) {
		return false
	}
	return l.cfg.Workers.TerminationRequested(m.pod.UID) || !m.rejected && !m.returns && !l.ended(m.pod)
}
