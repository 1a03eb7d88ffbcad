package cluster

import (
	"context"
	"net/http"
	"time"

	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A node's lease, as a kubelet renews it: up to 4 % later than leasePeriod, never sooner.
const (
	leaseNamespace = "kube-node-lease"
	leaseDuration  = 40 * time.Second
	leasePeriod    = leaseDuration / 4
	leasePause     = leasePeriod * 102 / 100
	leaseSpread    = 0.02 / 1.02
	// leaseAttempts is the number of immediate attempts to renew the lease.
	leaseAttempts = 5
	firstLease    = 100 * time.Millisecond
	lastLease     = 7 * time.Second
)

// renewLease renews the node's lease until ctx is done.
func (m *Member) renewLease(ctx context.Context) {
	select {
	case <-m.registered: // the node owns its lease
	case <-ctx.Done():
		return
	}
	problems := &trouble{log: m.log, what: "lease"}
	var last *coordination.Lease
	for delay := firstLease; ; {
		next, err := m.renewOnce(ctx, last)
		if ctx.Err() != nil {
			return
		}
		problems.note(err)
		wait, share := leasePause, leaseSpread
		if last = next; err != nil {
			wait, share, delay = delay, 0.1, min(2*delay, lastLease)
		} else {
			delay = firstLease
			m.mu.Lock()
			m.renewed = m.cfg.Now()
			m.mu.Unlock()
		}
		if !sleep(ctx, wait, share) {
			return
		}
	}
}

// renewOnce returns the renewed lease, nil if the lease must be read again.
func (m *Member) renewOnce(ctx context.Context, last *coordination.Lease) (*coordination.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, leasePeriod)
	defer cancel()
	var err error
	for range leaseAttempts {
		if last == nil {
			if last, err = m.leaseThere(ctx); err != nil {
				return nil, m.cfg.Client.Explain(err)
			}
		}
		next := &coordination.Lease{}
		err = m.cfg.Client.Request(http.MethodPut, coordination.SchemeGroupVersion).Namespace(leaseNamespace).Resource("leases").
			Name(m.name).Body(m.lease(last)).Do(ctx).Into(next)
		if err == nil {
			return next, nil
		}
		if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			break
		}
		last = nil
	}
	return last, m.cfg.Client.Explain(err)
}

// leaseThere reads the lease, or creates it.
func (m *Member) leaseThere(ctx context.Context) (*coordination.Lease, error) {
	l := &coordination.Lease{}
	err := m.cfg.Client.Request(http.MethodGet, coordination.SchemeGroupVersion).Namespace(leaseNamespace).Resource("leases").Name(m.name).Do(ctx).Into(l)
	if apierrors.IsNotFound(err) {
		err = m.cfg.Client.Request(http.MethodPost, coordination.SchemeGroupVersion).Namespace(leaseNamespace).Resource("leases").
			Body(m.lease(&coordination.Lease{ObjectMeta: metav1.ObjectMeta{Name: m.name, Namespace: leaseNamespace}})).Do(ctx).Into(l)
	}
	return l, err
}

// lease returns a copy of last with the current time as renewal time.
func (m *Member) lease(last *coordination.Lease) *coordination.Lease {
	l := last.DeepCopy()
	if n := m.serverCopy(); n != nil {
		l.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: n.UID}}
	}
	l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds = &m.name, new(int32(leaseDuration/time.Second))
	l.Spec.RenewTime = new(metav1.NewMicroTime(m.cfg.Now()))
	return l
}
