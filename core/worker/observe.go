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
	if _, err := p.cfg.Cache.Get(uid); err != nil {
		return true
	}
	observed := p.shown(uid)
	return observed.Active()
}

// shown is the pod as its last inspection shows it or, where that shows nothing
// that runs, as the last list does: an inspection may have failed or not been
// made yet.
func (p *Pool) shown(uid types.UID) status.ObservedPod {
	observed, _ := p.cfg.Cache.Get(uid)
	if observed.Active() {
		return observed
	}
	listed, _ := p.cfg.Cache.Pods()
	for i := range listed {
		if listed[i].UID == uid && listed[i].Active() {
			return listed[i]
		}
	}
	return observed
}
