package worker

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// syncPod brings a pod that should run closer to it. It reports whether the
// pod has run to its end.
func (p *Pool) syncPod(ctx context.Context, t turn, observed *status.ObservedPod) (ended bool, err error) {
	st := p.publish(t, observed, phase{})
	if pod.IsTerminal(st.Phase) {
		return true, nil
	}
	ctx, release := p.limit(ctx, t, &st)
	defer release()
	if !t.pod.Spec.HostNetwork {
		if err := p.cfg.Runtime.NetworkReady(); err != nil {
			err = fmt.Errorf("%w: %w", errNetwork, err)
			p.warn(ctx, t.pod, "NetworkNotReady", err)
			return false, err
		}
	}
	if err := p.prepare(ctx, t.pod); err != nil {
		p.warn(ctx, t.pod, "FailedMount", err)
		return false, err
	}
	if p.cfg.Endings != nil && !t.inherits {
		p.cfg.Endings.Forget(t.uid)
	}
	actions := Plan(t.pod, observed, p.cfg.Hash)
	p.tellSandbox(t, &actions, observed, &st)
	if actions.Empty() {
		return false, nil
	}
	if actions.Last() && !observed.Active() {
		p.giveUp(t)
		return true, nil
	}
	tried, err := p.execute(ctx, t, &actions, observed)
	t.rec.changed = p.cfg.Now()
	if tried {
		// What was done shows in the status without waiting for the next list.
		p.cfg.Inspector.Refresh(t.uid)
	}
	return false, err
}

// prepare makes the pod's directories and volumes.
func (p *Pool) prepare(ctx context.Context, about *v1.Pod) error {
	if err := p.cfg.Volumes.Setup(ctx, about); err != nil {
		return fmt.Errorf("setting up volumes: %w", err)
	}
	return p.proceed(ctx)
}
