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
	// hostileHand is how many of them it replaces at once.
	hostileHand = 20
)

// hostile is a tenant that attacks in two ways. It rewrites its set as fast as it can, with
// sets that fail in every way. It also adds pods that make an operator's policy fail, each for the
// first time, as fast as they are accepted.
type hostile struct {
	*rig
	dir     string
	rewrote int
	made    int
}

// attack attacks until ctx ends.
func (h *hostile) attack(ctx context.Context, t *testing.T) {
	t.Helper()
	var running sync.WaitGroup
	running.Go(func() { h.rewrite(ctx, t) })
	running.Go(func() { h.make(ctx, t) })
	running.Wait()
}

// rewrite runs a rewriter that changes the set, in a process of its own: the agent shares the
// processor with it, as with any tenant's process, but no goroutines.
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

// make adds and removes pods. Most of them make the operator's policy fail; the
// others close the policy's circuit breaker again.
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

// judgeHostile checks a verdict on a pod of the hostile tenant: if the pod makes
// a policy fail, it must be held, and for a reason that names this.
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
