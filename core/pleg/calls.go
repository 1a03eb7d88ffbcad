package pleg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// An inspection that does not return at its timeout is abandoned graceTime later. Run waits at its
// end for endTime at most.
const (
	graceTime = 2 * time.Second
	endTime   = 5 * time.Second
)

// errStillHangs is the error for a pod that cannot be inspected because an abandoned inspection of
// it still runs.
var errStillHangs = errors.New("an earlier inspection of it still hangs in the runtime")

// calls are the inspections that are under way in the runtime, abandoned ones included: at most one
// for each pod. It is safe for concurrent use.
type calls struct {
	mu sync.Mutex
	// givenUp has an entry for each pod with an inspection under way, true if it was abandoned.
	givenUp map[types.UID]bool
}

// begin reports whether the pod may be inspected, and if so records that an inspection is under
// way.
func (c *calls) begin(uid types.UID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, open := c.givenUp[uid]; open {
		return false
	}
	if c.givenUp == nil {
		c.givenUp = map[types.UID]bool{}
	}
	c.givenUp[uid] = false
	return true
}

// giveUp abandons an inspection unless it has returned, and reports whether it abandoned the
// inspection.
func (c *calls) giveUp(uid types.UID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, open := c.givenUp[uid]; !open {
		return false
	}
	c.givenUp[uid] = true
	return true
}

// end records that an inspection has returned, and reports whether it was abandoned.
func (c *calls) end(uid types.UID) (givenUp bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	givenUp = c.givenUp[uid]
	delete(c.givenUp, uid)
	return givenUp
}

// pods returns the pods with an inspection under way.
func (c *calls) pods() []types.UID {
	c.mu.Lock()
	defer c.mu.Unlock()
	uids := make([]types.UID, 0, len(c.givenUp))
	for uid := range c.givenUp {
		uids = append(uids, uid)
	}
	slices.Sort(uids)
	return uids
}

// callRuntime inspects a pod at a time that is later than newer. It returns soon after ctx is done,
// even if the runtime does not return.
func (g *Generator) callRuntime(ctx context.Context, uid types.UID, newer time.Time) inspection {
	ctx, cancel := context.WithTimeout(ctx, g.cfg.InspectTimeout)
	defer cancel()
	at := g.cfg.Now()
	if d := newer.Sub(at); d >= 0 && d < time.Millisecond {
		time.Sleep(d + 1) // the clock is coarse
		at = g.cfg.Now()
	}
	if !g.calls.begin(uid) {
		return inspection{uid: uid, at: at, err: errStillHangs}
	}
	answer := make(chan inspection, 1)
	g.running.Go(func() {
		p, err := g.cfg.Runtime.InspectPod(ctx, uid)
		if g.calls.end(uid) {
			g.requests.request(uid, g.cfg.Now()) // the pod can be inspected again
			return
		}
		answer <- inspection{uid: uid, at: at, pod: p, err: err}
	})
	select {
	case i := <-answer:
		return i
	case <-ctx.Done():
	}
	grace := time.NewTimer(graceTime)
	defer grace.Stop()
	select {
	case i := <-answer:
		return i
	case <-grace.C:
	}
	if !g.calls.giveUp(uid) {
		return <-answer // it has just returned
	}
	return inspection{uid: uid, at: at, err: fmt.Errorf("the runtime does not return from it: %w", ctx.Err())}
}

// end waits for all goroutines of Run, but not for long: a call that ignores its cancellation is
// left behind.
func (g *Generator) end() {
	ended := make(chan struct{})
	go func() {
		g.running.Wait()
		close(ended)
	}()
	timer := time.NewTimer(endTime)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		g.cfg.Logger.Error("calls to the runtime do not return and are abandoned", "pods", g.calls.pods())
	}
}
