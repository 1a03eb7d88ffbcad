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

// An inspection that ignores that its time is over is given up graceTime later.
// Run waits at its end for endTime at most.
const (
	graceTime = 2 * time.Second
	endTime   = 5 * time.Second
)

// errStillHangs is why a pod cannot be inspected of which an inspection was given
// up.
var errStillHangs = errors.New("an earlier inspection of it still hangs in the runtime")

// calls are the inspections that are under way in the runtime: one of each pod at
// most, however many were given up. It is safe for concurrent use.
type calls struct {
	mu sync.Mutex
	// givenUp says it of every pod that has one.
	givenUp map[types.UID]bool
}

// begin reports whether the pod may be inspected, which then is under way.
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

// giveUp abandons an inspection unless it has ended, and reports whether it did.
func (c *calls) giveUp(uid types.UID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, open := c.givenUp[uid]; !open {
		return false
	}
	c.givenUp[uid] = true
	return true
}

// end ends an inspection and reports whether it was given up.
func (c *calls) end(uid types.UID) (givenUp bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	givenUp = c.givenUp[uid]
	delete(c.givenUp, uid)
	return givenUp
}

// pods are those of which one is under way.
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

// callRuntime inspects a pod at a time that is later than newer. It returns soon
// after ctx ends, also where the runtime does not.
func (g *Generator) callRuntime(ctx context.Context, uid types.UID, newer time.Time) inspection {
	ctx, cancel := context.WithTimeout(ctx, g.cfg.InspectTimeout)
	defer cancel()
	at := g.cfg.Now()
	if d := newer.Sub(at); d >= 0 && d < time.Millisecond {
		time.Sleep(d + 1) // a coarse clock
		at = g.cfg.Now()
	}
	if !g.calls.begin(uid) {
		return inspection{uid: uid, at: at, err: errStillHangs}
	}
	answer := make(chan inspection, 1)
	g.running.Go(func() {
		p, err := g.cfg.Runtime.InspectPod(ctx, uid)
		if g.calls.end(uid) {
			g.requests.request(uid, g.cfg.Now()) // it can be inspected again
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
		return <-answer // it has just ended
	}
	return inspection{uid: uid, at: at, err: fmt.Errorf("the runtime does not return from it: %w", ctx.Err())}
}

// end waits for all goroutines of Run, but not for long: a call that ignores that
// it is to end is left behind.
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
