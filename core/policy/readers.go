package policy

import (
	"context"
	"maps"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// readersPeriod is how often the node is looked at while pods wait by what was
// seen of it.
const readersPeriod = time.Second

// readers tell when pods that are held by what was seen of the node may be judged
// otherwise, because other pods are on it now.
type readers struct {
	// used: a policy sees the node. waiting: such a verdict was given since they
	// were told last.
	used, waiting atomic.Bool
	changed       chan struct{}
}

// NodeChanged has a value whenever other pods are on the node than when policies
// that see it have held or denied one: those may now be judged otherwise. It has
// one at most once a second.
func (p *Plane) NodeChanged() <-chan struct{} { return p.readers.changed }

// note takes in a verdict.
func (r *readers) note(v *api.Verdict) {
	if v.ReadsNode && !r.used.Load() {
		r.used.Store(true)
	}
	if v.ReadsNode && v.Answer != api.Allow {
		r.waiting.Store(true)
	}
}

// watchNode looks at the node from time to time, while that is of interest. Pods
// take their places also while it is not: a policy that sees them may come.
func (p *Plane) watchNode(ctx context.Context) {
	if p.ledger.node == nil {
		return
	}
	every := time.NewTicker(readersPeriod)
	defer every.Stop()
	var before map[types.UID]*v1.Pod
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		if !p.readers.used.Load() {
			p.ledger.tidy()
			continue
		}
		now := p.ledger.present()
		same := maps.Equal(before, now)
		before = now
		if same || !p.readers.waiting.Swap(false) {
			continue
		}
		select {
		case p.readers.changed <- struct{}{}:
		default: // the one that waits says it too
		}
	}
}

// tidy forgets what is reserved for nothing.
func (l *ledger) tidy() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.reserved) > 0 {
		l.sweep()
	}
}

// present are the pods that count now, and in which version.
func (l *ledger) present() map[types.UID]*v1.Pod {
	l.look() // forgets what is reserved for nothing
	l.mu.Lock()
	defer l.mu.Unlock()
	present := make(map[types.UID]*v1.Pod, len(l.facts))
	for uid, f := range l.facts {
		present[uid] = f.of
	}
	return present
}
