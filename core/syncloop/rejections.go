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

// rejections are the final rejections whose status is shown only when they are durable: a pod that
// was shown as failed must not start after a restart of the agent.
type rejections struct {
	// unshown are the statuses that are not durable yet, the newest of each pod. Only the loop uses
	// them.
	unshown map[types.UID]*v1.PodStatus
	// wake has room for one value and is never closed.
	wake chan struct{}

	mu sync.Mutex
	// durable are the rejections that can be shown now.
	durable []rejection
}

type rejection struct {
	uid    types.UID
	status *v1.PodStatus
}

func newRejections() *rejections {
	return &rejections{unshown: map[types.UID]*v1.PodStatus{}, wake: make(chan struct{}, 1)}
}

// add adds a rejection that can be shown now. It may be called from any goroutine.
func (r *rejections) add(uid types.UID, st *v1.PodStatus) {
	r.mu.Lock()
	r.durable = append(r.durable, rejection{uid, st})
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// showOnceDurable shows a rejection once it is stored on disk. The loop does not wait for the disk.
func (l *Loop) showOnceDurable(m member, st *v1.PodStatus) {
	uid := m.pod.UID
	l.rejections.unshown[uid] = st
	l.cfg.Outcomes.Rejected(m.pod, st, func() { l.rejections.add(uid, st) })
}

// showDurable shows the rejections that can be shown now, if their pods are still rejected and have
// no worker.
func (l *Loop) showDurable() {
	l.rejections.mu.Lock()
	kept := l.rejections.durable
	l.rejections.durable = nil
	l.rejections.mu.Unlock()
	for _, r := range kept {
		if l.rejections.unshown[r.uid] != r.status {
			continue
		}
		delete(l.rejections.unshown, r.uid)
		if m, known := l.pods.get(r.uid); known && m.rejected && !l.cfg.Workers.Has(r.uid) {
			l.setStatus(m, r.status)
		}
	}
}

// retryLater records that a rejected pod is judged again once one of the pods that use the node has
// left it or has changed.
func (l *Loop) retryLater(m member, why admission.Result) {
	l.waiting[m.pod.UID] = why
	l.batch.hasWaiting = true
}

// JudgeAgain makes the loop judge the waiting pods again, within a second: something besides pods has
// changed by which they are judged. It may be called from any goroutine.
func (l *Loop) JudgeAgain() { l.again.Store(true) }

// retry judges the waiting pods and the recreated pods, and starts those that are admitted.
func (l *Loop) retry() {
	defer l.finishBatch()
	l.judgeWaiting()
	l.admitRecreated()
}

// judgeWaiting judges the waiting pods again, oldest first, if there may be more room since the
// last time, or if one of them waits for the end of a shutdown, which may be cancelled. If a pod still does not fit, an event is written only if the reason has changed.
func (l *Loop) judgeWaiting() {
	l.startPreemptors()
	if len(l.waiting) == 0 || !l.hasMoreRoom() && !l.awaitsShutdown() {
		return
	}
	clear(l.usersWhenRejected)
	for _, m := range l.waitingByAge() {
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
		l.setPending(m, "", "")
		l.cfg.Log.Info("pod fits now and starts", "pod", m.pod.Namespace+"/"+m.pod.Name, "uid", uid, "source", m.origin.Source)
		l.admit(m, result, nil, false)
	}
}

// hasMoreRoom reports whether one of the pods that used the node when others were rejected no
// longer uses it, or has changed, or JudgeAgain was called.
func (l *Loop) hasMoreRoom() bool {
	if l.again.Swap(false) {
		return true
	}
	now := map[types.UID]*v1.Pod{}
	for _, u := range l.nodeUsers() {
		now[u.pod.UID] = u.pod
	}
	for uid, p := range l.usersWhenRejected {
		if now[uid] != p {
			return true
		}
	}
	return false
}

// awaitsShutdown reports whether a pod was rejected because the machine shuts down.
func (l *Loop) awaitsShutdown() bool {
	for _, why := range l.waiting {
		if why.Reason == admission.ReasonNodeShutdown {
			return true
		}
	}
	return false
}

// waitingByAge returns the waiting pods, oldest first.
func (l *Loop) waitingByAge() []member {
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
