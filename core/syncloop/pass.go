package syncloop

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

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
