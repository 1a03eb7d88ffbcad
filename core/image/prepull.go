package image

import (
	"context"
	"time"

	"github.com/wardlet/wardlet/core/internal/faultlog"
	"github.com/wardlet/wardlet/core/pod"
)

// Run makes the images in the configuration present, one at a time, and tries again until all are
// present. Then it waits until ctx is done.
func (u *Puller) Run(ctx context.Context) {
	missing := u.cfg.Prepull
	pace := &faultlog.Pace{}
	for failed := 0; len(missing) > 0 && ctx.Err() == nil; failed++ {
		var again []string
		for _, name := range missing {
			if err := u.prepull(ctx, name); err != nil && ctx.Err() == nil {
				again = append(again, name)
				if pace.Due(name, err.Error(), u.cfg.Now()) {
					u.cfg.Log.Warn("an image of runtime.prepull cannot be pulled; it is tried again", "image", name, "err", err)
				}
			}
		}
		if missing = again; len(missing) == 0 {
			break
		}
		wait := time.NewTimer(delays.Delay(failed))
		select {
		case <-wait.C:
		case <-ctx.Done():
		}
		wait.Stop()
	}
	<-ctx.Done()
}

// prepull pulls an image for the operator unless it is present. It does not delay the pulls of
// pods.
func (u *Puller) prepull(ctx context.Context, listed string) error {
	name, err := pod.CompleteImage(listed)
	if err != nil {
		return err
	}
	found, err := u.cfg.Runtime.Image(ctx, name)
	if err != nil || found != nil {
		return err
	}
	began := u.cfg.Now()
	if _, err := u.pullNow(ctx, nil, name, "", &pending{}); err != nil {
		return err
	}
	u.cfg.Log.Info("pulled an image of runtime.prepull", "image", name, "took", u.cfg.Now().Sub(began).Round(time.Millisecond))
	return nil
}
