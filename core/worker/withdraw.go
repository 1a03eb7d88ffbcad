package worker

import "k8s.io/apimachinery/pkg/types"

// Withdraw takes back a pod of which nothing has begun: whose worker has not started,
// and of which the runtime runs nothing. It reports whether it did; then the pod has no
// worker and no status any more. It does not block.
func (p *Pool) Withdraw(uid types.UID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	rec, known := p.records[uid]
	if p.stopped || !known || rec.state != Syncing || rec.started || p.active(uid) {
		return false
	}
	p.remove(rec)
	return true
}
