package worker

import (
	"context"
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/status"
)

// endPod stops all containers of a pod and its sandboxes, and sees with its
// own eyes that nothing runs any more.
func (p *Pool) endPod(ctx context.Context, t turn, observed *status.ObservedPod) error {
	p.publish(t, observed, phase{terminating: true})
	if err := p.killPod(ctx, t.pod, observed, t.grace); err != nil {
		p.warn(ctx, t.pod, "FailedKillPod", err)
		return err
	}
	after, err := p.observe(ctx, t.uid, p.cfg.Now())
	if err != nil {
		return fmt.Errorf("looking at the pod after it was stopped: %w", err)
	}
	if after.Running() {
		return errors.New("the runtime stopped all containers of the pod, yet shows one running")
	}
	p.publish(t, &after, phase{terminal: true})
	return nil
}

// endOrphan stops what runs of a pod of which only the runtime knows.
func (p *Pool) endOrphan(ctx context.Context, t turn) error {
	about := &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		UID: t.uid, Name: t.observed.Name, Namespace: t.observed.Namespace,
	}}
	return p.killPod(ctx, about, t.observed, orphanGrace)
}
