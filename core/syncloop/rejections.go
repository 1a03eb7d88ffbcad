package syncloop

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
)

// rejections are those for good that are shown once the next agent would know of
// them: what is shown as failed must not start after a restart.
type rejections struct {
	// unshown are the statuses that wait for that, the newest of each pod. They are
	// the loop's own.
	unshown map[types.UID]*v1.PodStatus
	// nudge has room for one value and is never closed.
	nudge chan struct{}

	mu sync.Mutex
	// kept are those that have to wait no more.
	kept []rejection
}

type rejection struct {
	uid    types.UID
	status *v1.PodStatus
}

func newRejections() *rejections {
	return &rejections{unshown: map[types.UID]*v1.PodStatus{}, nudge: make(chan struct{}, 1)}
}

// add says that a rejection has to wait no more. It may be called from any goroutine.
func (r *rejections) add(uid types.UID, st *v1.PodStatus) {
	r.mu.Lock()
	r.kept = append(r.kept, rejection{uid, st})
	r.mu.Unlock()
	select {
	case r.nudge <- struct{}{}:
	default:
	}
}

// showOnceKept shows a rejection when it is kept. The loop does not wait for the disk.
func (l *Loop) showOnceKept(m member, st *v1.PodStatus) {
	uid := m.pod.UID
	l.rejections.unshown[uid] = st
	l.cfg.Outcomes.Rejected(m.pod, st, func() { l.rejections.add(uid, st) })
}

// showKept shows the rejections that have to wait no more, of pods that are still
// rejected and about which no worker has anything to say.
func (l *Loop) showKept() {
	l.rejections.mu.Lock()
	kept := l.rejections.kept
	l.rejections.kept = nil
	l.rejections.mu.Unlock()
	for _, r := range kept {
		if l.rejections.unshown[r.uid] != r.status {
			continue
		}
		delete(l.rejections.unshown, r.uid)
		if m, known := l.pods.get(r.uid); known && m.rejected && !l.cfg.Workers.Has(r.uid) {
			l.show(m, r.status)
		}
	}
}

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
