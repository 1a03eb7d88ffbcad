package syncloop

import (
	"cmp"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/worker"
)

// pass is what is known while pods are judged one after the other: that the loop asks
// the workers about all others once, and not for each.
type pass struct {
	// users are those of the node, by UID, nil where they have to be looked up. Who is
	// admitted joins them.
	users []user
	// crowded: a pod waits that was judged beside the users.
	crowded bool
	// starts are pods that are handed to the workers when all have been judged.
	starts []start
}

// start is an admitted pod, and whether something of it is on the node already.
type start struct {
	member
	begun bool
}

// present are the users of the node.
func (l *Loop) present() []user {
	if l.pass.users == nil {
		l.pass.users = l.users()
	}
	return l.pass.users
}

// join has a pod use the node that was just admitted, unless it has ended.
func (l *Loop) join(m member) {
	if !l.active(m) {
		return
	}
	u := user{pod: m.pod}
	i, known := slices.BinarySearchFunc(l.present(), u, byUID)
	if known {
		l.pass.users[i] = u
		return
	}
	l.pass.users = slices.Insert(l.pass.users, i, u)
}

// lookAgain forgets who uses the node, for that has changed.
func (l *Loop) lookAgain() {
	if l.pass.crowded {
		for _, u := range l.present() {
			l.crowd[u.pod.UID] = u.pod
		}
	}
	l.pass.users, l.pass.crowded = nil, false
}

// create has a pod start when all have been judged.
func (l *Loop) create(m member, begun bool) { l.pass.starts = append(l.pass.starts, start{m, begun}) }

// settle ends a pass: who was admitted starts, and who uses the node is not known any
// more.
func (l *Loop) settle() {
	for _, s := range l.pass.starts {
		l.hand(s.member)
	}
	l.pass.starts = nil
	l.lookAgain()
}

func (l *Loop) hand(m member) {
	l.cfg.Workers.Update(worker.Request{Kind: worker.Create, Pod: m.pod, Origin: m.origin, After: m.after})
}

// starting takes a pod out of those that are about to start.
func (l *Loop) starting(uid types.UID) (s start, found bool) {
	i := slices.IndexFunc(l.pass.starts, func(s start) bool { return s.pod.UID == uid })
	if i < 0 {
		return start{}, false
	}
	s = l.pass.starts[i]
	l.pass.starts = slices.Delete(l.pass.starts, i, i+1)
	return s, true
}

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

// attributes are what a pod is judged by. Those it starts after anyway are not
// among the others: the one whose place it takes, and of static pods those of its
// full name. A pod that is rejected for good does not see what was removed and is
// about to leave, as with a kubelet; any other waits for that.
func (l *Loop) attributes(m member) *admission.Attributes {
	a := &admission.Attributes{Pod: m.pod, Verdict: m.verdict}
	static := pod.IsStatic(m.pod)
	var ending []user
	for _, u := range l.present() {
		precedes := u.pod.UID == m.after || static && pod.IsStatic(u.pod) && pod.FullName(u.pod) == pod.FullName(m.pod)
		switch {
		case u.pod.UID == m.pod.UID, u.ending && precedes, u.removed && !static:
		case u.ending:
			ending = append(ending, u)
		default:
			a.Others = append(a.Others, u.pod)
		}
	}
	slices.SortStableFunc(ending, func(a, b user) int { return cmp.Compare(a.left, b.left) })
	for _, u := range ending {
		a.Ending = append(a.Ending, u.pod)
	}
	return a
}
