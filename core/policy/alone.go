package policy

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
)

// alone is a decision that is made while those wait that would change what it
// sees. There is one at a time, and it waits for none of them.
type alone struct {
	decision *eval.Decision
	// tenant is whose pods those are about, empty for anybody's.
	tenant string
	over   chan struct{}
}

// holdOff has others wait for a decision from now on, if they would change what
// it has seen, or what another one like it may see.
func (l *ledger) holdOff(ctx context.Context, d *eval.Decision) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.alone != nil && l.alone.decision != d {
		if !l.await(ctx) {
			return
		}
	}
	if l.alone == nil {
		l.alone = &alone{decision: d, tenant: d.Request.Tenant, over: make(chan struct{})}
	}
	if !l.alone.covers(d.Seen) {
		l.alone.tenant = ""
	}
}

// goOn ends that others wait for a decision.
func (l *ledger) goOn(d *eval.Decision) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.alone != nil && l.alone.decision == d {
		close(l.alone.over)
		l.alone = nil
	}
}

// waits reports whether the answer to a decision has to wait: it changes what
// another sees that is made alone.
func (l *ledger) waits(d *eval.Decision, uid types.UID, answer api.Answer) bool {
	if l.alone == nil || l.alone.decision == d || l.alone.tenant != "" && l.alone.tenant != d.Request.Tenant {
		return false
	}
	_, reserved := l.reserved[uid]
	return answer == api.Allow || reserved
}

// await waits, without the lock, until the decision made alone is over. It gives
// false where ctx ends before.
func (l *ledger) await(ctx context.Context) bool {
	over := l.alone.over
	l.mu.Unlock()
	defer l.mu.Lock()
	select {
	case <-over:
		return true
	case <-ctx.Done():
		return false
	}
}

// covers reports whether nothing of what was shown can be changed by those that do
// not wait.
func (a *alone) covers(s *eval.NodeView) bool {
	if s == nil {
		return true
	}
	for tenant := range s.Shown {
		if a.tenant != "" && a.tenant != tenant {
			return false
		}
	}
	return true
}
