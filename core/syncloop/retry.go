package syncloop

import (
	"cmp"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
)

// waits notes that a rejected pod is to be judged again once one of those that use
// the node has left it or has become another.
func (l *Loop) waits(m member, why admission.Result) {
	l.waiting[m.pod.UID] = why
	l.pass.crowded = true
}

// retry judges the pods that wait again, and those that come back, and starts those
// that may now.
func (l *Loop) retry() {
	defer l.settle()
	l.judgeWaiting()
	l.welcome()
}

// judgeWaiting judges the pods that wait again, oldest first, where there may be room
// since. One that still does not fit makes no event, unless it is for another
// reason.
func (l *Loop) judgeWaiting() {
	l.arrive()
	if len(l.waiting) == 0 || !l.roomier() {
		return
	}
	clear(l.crowd)
	for _, m := range l.oldest() {
		uid := m.pod.UID
		before := l.waiting[uid]
		result := l.judge(m, false)
		if !result.Admitted {
			l.reject(m, result, result.Reason != before.Reason)
			continue
		}
		delete(l.waiting, uid)
		m.rejected = false
		l.pods.put(m)
		l.pending(m, "", "")
		l.cfg.Log.Info("pod fits now and starts", "pod", m.pod.Namespace+"/"+m.pod.Name, "uid", uid, "source", m.origin.Source)
		l.admit(m, result, nil, false)
	}
}

// roomier reports whether one of those that used the node when pods were rejected
// does not any more, or has become another.
func (l *Loop) roomier() bool {
	now := map[types.UID]*v1.Pod{}
	for _, u := range l.present() {
		now[u.pod.UID] = u.pod
	}
	for uid, p := range l.crowd {
		if now[uid] != p {
			return true
		}
	}
	return false
}

// oldest are the pods that wait, in the order in which they would have come.
func (l *Loop) oldest() []member {
	var waiting []member
	for uid := range maps.Keys(l.waiting) {
		m, _ := l.pods.get(uid)
		waiting = append(waiting, m)
	}
	slices.SortFunc(waiting, byAge)
	return waiting
}

func byAge(a, b member) int {
	return cmp.Or(a.pod.CreationTimestamp.Compare(b.pod.CreationTimestamp.Time),
		a.origin.FirstSeen.Compare(b.origin.FirstSeen), cmp.Compare(a.pod.UID, b.pod.UID))
}
