package worker

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// observe gives what the runtime shows of the pod, newer than after. It asks
// for an inspection when there is nothing newer yet, and waits for that, never
// for the periodic list.
func (p *Pool) observe(ctx context.Context, uid types.UID, after time.Time) (status.ObservedPod, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(p.draining, cancel)()
	defer cancel()

	peek, end := context.WithCancel(ctx)
	end()
	observed, err := p.cfg.Cache.GetNewerThan(peek, uid, after)
	if !errors.Is(err, context.Canceled) {
		return observed, err
	}
	p.cfg.Inspector.Refresh(uid)
	return p.cfg.Cache.GetNewerThan(ctx, uid, after)
}

// active reports whether the runtime may still run something of the pod. In
// doubt it does.
func (p *Pool) active(uid types.UID) bool {
	observed, err := p.cfg.Cache.Get(uid)
	if err != nil || observed.Active() {
		return true
	}
	listed, _ := p.cfg.Cache.Pods()
	for i := range listed {
		if listed[i].UID == uid && listed[i].Active() {
			return true
		}
	}
	return false
}
