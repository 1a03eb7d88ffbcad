package runtime

import (
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// maxNoticed bounds what is remembered; beyond, it starts anew and at worst a
// notice is given twice.
const maxNoticed = 1000

// noticed remembers which notices a pod has had, so that a sandbox that is
// tried again and again does not repeat them.
type noticed struct {
	mu   sync.Mutex
	seen map[noticedKey]bool
}

type noticedKey struct {
	uid    types.UID
	reason string
}

// first reports whether the pod has not had this notice yet.
func (n *noticed) first(uid types.UID, reason string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := noticedKey{uid, reason}
	if n.seen[key] {
		return false
	}
	if n.seen == nil || len(n.seen) >= maxNoticed {
		n.seen = map[noticedKey]bool{}
	}
	n.seen[key] = true
	return true
}

// notify makes events of notices, each once per pod.
func (r *Runtime) notify(p *v1.Pod, notices []notice) {
	for _, n := range notices {
		if r.noticed.first(p.UID, n.reason) {
			r.config.Events.Event(p, v1.EventTypeWarning, n.reason, n.message)
		}
	}
}
