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

// admissionBatch is shared state while pods are judged one after the other: the loop asks the
// workers about all other pods once per batch, not once per pod.
type admissionBatch struct {
	// users are the pods that use the node, sorted by UID, nil if they have to be listed. Admitted
	// pods are added.
	users []nodeUser
	// hasWaiting is true if a pod was judged against the users, was rejected and now waits.
	hasWaiting bool
	// starts are the admitted pods whose workers start when all pods have been judged.
	starts []queuedStart
}

// queuedStart is an admitted pod. begun is true if something of it is on the node already.
type queuedStart struct {
	member
	begun bool
}

// nodeUsers returns the pods that use the node, listed once in a batch.
func (l *Loop) nodeUsers() []nodeUser {
	if l.batch.users == nil {
		l.batch.users = l.listNodeUsers()
	}
	return l.batch.users
}

// addUser adds a pod that was just admitted to the users of the node, unless it has
// ended.
func (l *Loop) addUser(m member) {
	if !l.active(m) {
		return
	}
	u := nodeUser{pod: m.pod}
	i, known := slices.BinarySearchFunc(l.nodeUsers(), u, byUID)
	if known {
		l.batch.users[i] = u
		return
	}
	l.batch.users = slices.Insert(l.batch.users, i, u)
}

// invalidateUsers clears the list of the node's users because it has changed.
func (l *Loop) invalidateUsers() {
	if l.batch.hasWaiting {
		for _, u := range l.nodeUsers() {
			l.usersWhenRejected[u.pod.UID] = u.pod
		}
	}
	l.batch.users, l.batch.hasWaiting = nil, false
}

// queueStart starts the worker of a pod when the batch ends.
func (l *Loop) queueStart(m member, begun bool) {
	l.batch.starts = append(l.batch.starts, queuedStart{m, begun})
}

// finishBatch starts the workers of admitted pods and clears the list of the node's users.
func (l *Loop) finishBatch() {
	for _, s := range l.batch.starts {
		l.startWorker(s.member)
	}
	l.batch.starts = nil
	l.invalidateUsers()
}

// startWorker requests the worker of an admitted pod.
func (l *Loop) startWorker(m member) {
	l.cfg.Workers.Submit(worker.Request{Kind: worker.Create, Pod: m.pod, Origin: m.origin, Replaces: m.after})
}

// dequeueStart removes a pod from those that start when the batch ends.
func (l *Loop) dequeueStart(uid types.UID) (s queuedStart, found bool) {
	i := slices.IndexFunc(l.batch.starts, func(s queuedStart) bool { return s.pod.UID == uid })
	if i < 0 {
		return queuedStart{}, false
	}
	s = l.batch.starts[i]
	l.batch.starts = slices.Delete(l.batch.starts, i, i+1)
	return s, true
}

// nodeUser is a pod that uses the node.
type nodeUser struct {
	pod *v1.Pod
	// ending is true if the pod is being terminated, and removed if the set no longer contains it.
	ending, removed bool
	// remainingGrace is the rest of the grace period of a pod that is being terminated.
	remainingGrace time.Duration
}

// listNodeUsers returns the pods that use the node, sorted by UID. They are the admitted pods that
// have not ended, the pods that are being terminated even if no source wants them, and the pods
// that an earlier agent left running and that are not in the set yet.
func (l *Loop) listNodeUsers() []nodeUser {
	known := map[types.UID]bool{}
	var users []nodeUser
	take := func(u nodeUser) {
		if !known[u.pod.UID] {
			known[u.pod.UID] = true
			users = append(users, u)
		}
	}
	ending := l.cfg.Workers.TerminatingPods()
	left := l.remainingGrace(ending)
	for uid, m := range l.pods.all() {
		if l.active(m) {
			take(nodeUser{pod: m.pod, ending: l.cfg.Workers.TerminationRequested(uid), remainingGrace: left[uid]})
		}
	}
	for _, e := range ending {
		if !l.cfg.Workers.KnownTerminated(e.Pod.UID) {
			take(nodeUser{pod: e.Pod, ending: true, removed: true, remainingGrace: left[e.Pod.UID]})
		}
	}
	for _, p := range l.notYetRestored() {
		take(nodeUser{pod: p})
	}
	slices.SortFunc(users, byUID)
	return users
}

func byUID(a, b nodeUser) int { return cmp.Compare(a.pod.UID, b.pod.UID) }

// remainingGrace returns, by UID, the rest of the grace period of pods that are being terminated.
func (l *Loop) remainingGrace(ending []worker.TerminatingPod) map[types.UID]time.Duration {
	left := make(map[types.UID]time.Duration, len(ending))
	now := l.cfg.Now()
	for _, e := range ending {
		left[e.Pod.UID] = max(seconds(e.Grace)-now.Sub(e.Since), 0)
	}
	return left
}

// notYetRestored returns the pods that an earlier agent left running, that are wanted, and that are
// not in the set yet.
func (l *Loop) notYetRestored() []*v1.Pod {
	running := map[types.UID]bool{}
	for _, s := range l.cfg.Workers.Orphans() {
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

// active reports whether the pod may use the node: it is being terminated, or it was admitted and
// has not ended.
func (l *Loop) active(m member) bool {
	if l.cfg.Workers.KnownTerminated(m.pod.UID) {
		return false
	}
	return l.cfg.Workers.TerminationRequested(m.pod.UID) || !m.rejected && !m.recreated && !l.ended(m.pod)
}

// attributes returns the input of the admission of a pod. A terminating pod is not among the others
// if m starts after it in any case: the pod that m replaces and, for static pods, the pods of its
// full name. A pod that is not static does not count removed pods that are terminating, as in a
// kubelet. A static pod waits for those.
func (l *Loop) attributes(m member) *admission.Attributes {
	a := &admission.Attributes{Pod: m.pod, Verdict: m.verdict}
	static := pod.IsStatic(m.pod)
	var ending []nodeUser
	for _, u := range l.nodeUsers() {
		precedes := u.pod.UID == m.after || static && pod.IsStatic(u.pod) && pod.FullName(u.pod) == pod.FullName(m.pod)
		switch {
		case u.pod.UID == m.pod.UID, u.ending && precedes, u.removed && !static:
		case u.ending:
			ending = append(ending, u)
		default:
			a.Others = append(a.Others, u.pod)
		}
	}
	slices.SortStableFunc(ending, func(a, b nodeUser) int { return cmp.Compare(a.remainingGrace, b.remainingGrace) })
	for _, u := range ending {
		a.Ending = append(a.Ending, u.pod)
	}
	return a
}
