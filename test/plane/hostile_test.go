package plane

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/wasm/wasmtest"
)

const (
	// hostilePods is how many pods the hostile tenant has at once.
	hostilePods = 200
	// hostileHand is how many of them it exchanges at once.
	hostileHand = 20
)

// hostile is a tenant that does its worst: it rewrites its set as fast as it can,
// with one that fails in every way, and makes pods as fast as they are taken that
// make an operator's policy fail, each for the first time.
type hostile struct {
	*rig
	dir     string
	rewrote int
	made    int
}

// attack does its worst until ctx ends.
func (h *hostile) attack(ctx context.Context, t *testing.T) {
	t.Helper()
	var running sync.WaitGroup
	running.Go(func() { h.rewrite(ctx, t) })
	running.Go(func() { h.make(ctx, t) })
	running.Wait()
}

// rewrite writes one set after the other, for a while without a pause and then
// with pauses in which each is loaded.
func (h *hostile) rewrite(ctx context.Context, t *testing.T) {
	t.Helper()
	random := rand.New(rand.NewPCG(5, 6))
	kinds := slices.Sorted(maps.Keys(faults))
	for ctx.Err() == nil {
		h.rewrote++
		c := good(10_000+h.rewrote, 0)
		switch h.rewrote % 4 {
		case 0:
			module(func(int) []byte { return wasmtest.Trapping() })(&c, 10_000+h.rewrote)
		case 1:
			module(func(int) []byte { return wasmtest.Looping() })(&c, 10_000+h.rewrote)
		case 2:
			faults[kinds[random.IntN(len(kinds))]](&c, 10_000+h.rewrote)
		}
		c.put(t, h.dir, random.IntN(2) == 0)
		pause := time.Duration(0)
		if h.rewrote/100%2 == 1 {
			pause = 150 * time.Millisecond
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// make has pods come and go, of which most make the operator's policy fail; the
// others close its breaker again.
func (h *hostile) make(ctx context.Context, t *testing.T) {
	t.Helper()
	images := []string{imageTraps, imageLoops, imageTraps, imageLoops, "fine"}
	for ctx.Err() == nil {
		var come []pod.Document
		for range hostileHand {
			i := h.made % hostilePods
			d := document("evil-1", fmt.Sprintf("pod-%d", i), images[h.made%len(images)], h.made)
			d.Source = hostileSource
			come = append(come, d)
			h.made++
		}
		if err := h.hostile.Apply(ctx, come, nil); err != nil && ctx.Err() == nil {
			t.Error(err)
			return
		}
	}
}

// judgeHostile looks at a verdict on a pod of the hostile tenant: where it makes
// a policy fail it is held, and for a reason that is its own.
func judgeHostile(q *pod.Question, v *pod.Verdict) error {
	image := q.Pod.Spec.Containers[0].Image
	if v.Answer == pod.Allow && image != imageTraps && image != imageLoops {
		return nil
	}
	reasons := []string{pod.ReasonPolicyFailed, pod.ReasonBudgetExhausted, pod.ReasonPoliciesNotReady}
	if v.Answer != pod.Hold || !slices.Contains(reasons, v.Reason) {
		return errors.New("it makes policies fail, and is not held for that")
	}
	return nil
}
