package plane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/wardlet/wardlet/core/api"
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

// rewrite has a rewriter change the set, in a process of its own: the agent shares the
// processor with a tenant as with any other, and no goroutines.
func (h *hostile) rewrite(ctx context.Context, t *testing.T) {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), rewriterDir+"="+h.dir, rewriterFrom+"="+strconv.Itoa(h.rewrote))
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	command.Stderr = os.Stderr
	end, err := command.StdinPipe()
	must(t, err)
	var out strings.Builder
	command.Stdout = &out
	must(t, command.Start())
	<-ctx.Done()
	err = errors.Join(end.Close(), command.Wait())
	if _, scanned := fmt.Sscan(out.String(), &h.rewrote); err != nil || scanned != nil {
		t.Errorf("the rewriter: %v, it said %q", errors.Join(err, scanned), out.String())
	}
}

// make has pods come and go, of which most make the operator's policy fail; the
// others close its breaker again.
func (h *hostile) make(ctx context.Context, t *testing.T) {
	t.Helper()
	images := []string{imageTraps, imageLoops, imageTraps, imageLoops, "fine"}
	for ctx.Err() == nil {
		var come []api.Document
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
func judgeHostile(q *api.Question, v *api.Verdict) error {
	image := q.Pod.Spec.Containers[0].Image
	if v.Answer == api.Allow && image != imageTraps && image != imageLoops {
		return nil
	}
	reasons := []string{api.ReasonPolicyFailed, api.ReasonBudgetExhausted, api.ReasonPoliciesNotReady}
	if v.Answer != api.Hold || !slices.Contains(reasons, v.Reason) {
		return errors.New("it makes policies fail, and is not held for that")
	}
	return nil
}
