package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/status"
)

// endPod stops all containers of a pod and its sandboxes, and sees with its
// own eyes that nothing runs any more.
func (p *Pool) endPod(ctx context.Context, t turn, observed *status.ObservedPod) error {
	p.publish(t, observed, phase{terminating: true})
	if p.cfg.Endings != nil && observed.Running() {
		p.cfg.Endings.Begin(t.uid, t.origin.FirstSeen, t.grace)
	}
	if err := p.killPod(ctx, t.pod, observed, t.grace, t.why); err != nil {
		p.warn(ctx, t.pod, "FailedKillPod", err)
		return err
	}
	after, err := p.ended(ctx, t)
	if err != nil {
		return err
	}
	p.publish(t, after, phase{terminal: true})
	return nil
}

// ended looks at a pod whose containers have been stopped. What it sees holds for
// the next turn as well.
func (p *Pool) ended(ctx context.Context, t turn) (*status.ObservedPod, error) {
	t.rec.changed = p.cfg.Now()
	after, err := p.observe(ctx, t.uid, t.rec.changed)
	if err != nil {
		return nil, fmt.Errorf("looking at the pod after it was stopped: %w", err)
	}
	if after.Running() {
		return nil, errors.New("the runtime stopped all containers of the pod, yet shows one running")
	}
	return &after, nil
}

// endOrphan stops what runs of a pod of which only the runtime knows. That it has
// ended is seen before anybody is told who waits for it. last is when it was tried
// last, zero for never.
func (p *Pool) endOrphan(ctx context.Context, t turn, last time.Time) error {
	about := &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		UID: t.uid, Name: t.observed.Name, Namespace: t.observed.Namespace,
	}}
	if err := p.killPod(ctx, about, p.orphan(ctx, t, last), t.grace, t.why); err != nil {
		return err
	}
	_, err := p.ended(ctx, t)
	return err
}

// orphan is what there is of a pod of which only the runtime knows: as it was found
// or, when that did not do, as it is now. More of it may run by then.
func (p *Pool) orphan(ctx context.Context, t turn, last time.Time) *status.ObservedPod {
	if last.IsZero() {
		return t.observed
	}
	if now, err := p.observe(ctx, t.uid, last); err == nil {
		return &now
	}
	return t.observed
}
