package worker

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
)

// Ending is a pod that is being ended.
type Ending struct {
	Pod    *v1.Pod
	Origin api.Origin
	// Since is when it began, Grace its grace period in seconds.
	Since time.Time
	Grace int64
}

// Ending lists the pods that are being ended, in no order, until their worker
// has nothing left to do. Pods that only the runtime knows are not among them.
func (p *Pool) Ending() []Ending {
	p.mu.Lock()
	defer p.mu.Unlock()
	var ending []Ending
	for _, rec := range p.records {
		if rec.pod != nil && (rec.state == Terminating || rec.state == Terminated) {
			ending = append(ending, Ending{Pod: rec.pod, Origin: rec.origin, Since: rec.endedAt, Grace: rec.grace})
		}
	}
	return ending
}
