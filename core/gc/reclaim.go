package gc

import (
	"context"
	"fmt"
	"sync"
)

// RemoveDeadContainers removes the dead containers, the stopped sandboxes and the logs of the pods
// that have ended, as far as Config.Ended reports them, although they are still shown. Under disk
// pressure a kubelet does the same. It returns when they are removed, or when ctx ends. Errors of a
// pod are logged as those of a pass.
func (c *Collector) RemoveDeadContainers(ctx context.Context) error {
	if c.cfg.Ended == nil {
		return nil
	}
	observed, err := c.list(ctx)
	if err != nil {
		return fmt.Errorf("list what ended pods have left: %w", err)
	}
	var tasks sync.WaitGroup
	for i := range observed {
		if p := &observed[i]; !p.Active() && c.cfg.Ended(p.UID) {
			tasks.Add(1)
			if !c.begin(job{uid: p.UID, listed: true, observed: p, emptied: tasks.Done}) {
				tasks.Done()
			}
		}
	}
	done := make(chan struct{})
	go func() { // it ends with the tasks, which Stop waits for
		tasks.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
