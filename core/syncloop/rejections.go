package syncloop

import (
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
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
