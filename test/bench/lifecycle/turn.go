package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/test/harness"
)

// clearTimeout limits how long it may take to remove what one side left.
const clearTimeout = 2 * time.Minute

// with runs an agent while it calls do, and then removes what the agent left.
func (b *bench) with(ctx context.Context, made func() (*agent, error), do func(context.Context, *agent) error) (err error) {
	a, err := made()
	if a != nil {
		defer func() {
			clearing, cancel := context.WithTimeout(context.WithoutCancel(ctx), clearTimeout)
			defer cancel()
			err = errors.Join(err, a.stop())
			err = errors.Join(err, b.clear(clearing), a.end(clearing))
		}()
	}
	if err != nil {
		return err
	}
	if err := a.start(ctx); err != nil {
		return err
	}
	if err := b.warm(ctx, a); err != nil {
		return a.explain(err)
	}
	return a.explain(do(ctx, a))
}

// warm runs a first pod and removes it.
func (b *bench) warm(ctx context.Context, a *agent) error {
	first := manifest{name: "first"}
	if _, err := a.drop(first); err != nil {
		return err
	}
	runs, err := b.events.running(ctx, first.running(), "")
	if err != nil {
		return err
	}
	if _, err := a.remove(first); err != nil {
		return err
	}
	if _, err := b.events.stopped(ctx, runs.id); err != nil {
		return err
	}
	return wait(ctx, 2*time.Second)
}

// wardletTurn measures the agent.
func (b *bench) wardletTurn(ctx context.Context) error {
	if err := b.agentTurn(ctx, func() (*agent, error) { return b.newWardlet(ours, false) }); err != nil {
		return err
	}
	if !b.parts.any(partMemory) {
		return nil
	}
	return b.with(ctx, func() (*agent, error) { return b.newWardlet(guarded, true) }, b.guardedMemory)
}

func (b *bench) kubeletTurn(ctx context.Context) error { return b.agentTurn(ctx, b.newKubelet) }

// agentTurn measures one side in two processes: first single pods, then a crowd.
func (b *bench) agentTurn(ctx context.Context, made func() (*agent, error)) error {
	if b.parts.any(partStart, partUpdate, partRestart) {
		if err := b.with(ctx, made, b.singles); err != nil {
			return err
		}
	}
	if b.parts.any(partBurst, partDelete, partIdle, partMemory) {
		return b.with(ctx, made, b.crowd)
	}
	return nil
}

// sayRound prints the results of the last round.
func (b *bench) sayRound() {
	var names []string
	for name := range b.measured {
		names = append(names, name)
	}
	slices.Sort(names)
	var words []string
	for _, name := range names {
		values := b.measured[name]
		last := values[len(values)-1]
		if strings.HasPrefix(name, "resident") {
			words = append(words, fmt.Sprintf("%s %.1f MiB", name, last/(1<<20)))
			continue
		}
		words = append(words, fmt.Sprintf("%s %s", name, time.Duration(last).Round(100*time.Microsecond)))
	}
	b.say("%s", strings.Join(words, ", "))
}

const (
	// gonePatience is how long something of the agent's may stay before that is an error and not
	// only a missed limit.
	gonePatience = 30 * time.Second
	// look is the interval between two looks.
	look = 50 * time.Millisecond
)

// untilGone waits until nothing of an agent's pods is left.
func (b *bench) untilGone(ctx context.Context, a *agent) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, gonePatience)
	defer cancel()
	for {
		left, err := b.left(ctx, a)
		if err == nil && left == "" {
			return time.Now(), nil
		}
		select {
		case <-ctx.Done():
			return time.Now(), errors.Join(err, fmt.Errorf("%s is left after %s", left, gonePatience))
		case <-time.After(look):
		}
	}
}

// left names one thing that is left, empty for nothing. It asks the runtime last, because only that
// costs the runtime something.
func (b *bench) left(ctx context.Context, a *agent) (string, error) {
	left, err := harness.Entries(a.traces...)
	if err != nil {
		return "", err
	}
	if len(left) > 0 {
		return left[0], nil
	}
	cgroups, err := harness.CgroupsNamed(a.Cgroup())
	if err != nil {
		return "", err
	}
	if left = podCgroups(cgroups, a.Cgroup()); len(left) > 0 {
		return left[0], nil
	}
	pods, err := b.cri.ListPodSandbox(ctx, &criapi.ListPodSandboxRequest{})
	if err != nil || len(pods.GetItems()) > 0 {
		return fmt.Sprintf("%d pods", len(pods.GetItems())), err
	}
	containers, err := b.cri.ListContainers(ctx, &criapi.ListContainersRequest{})
	if err != nil || len(containers.GetContainers()) > 0 {
		return fmt.Sprintf("%d containers", len(containers.GetContainers())), err
	}
	return "", nil
}

// podCgroups returns the cgroups of pods among the root of that name and all cgroups below it.
func podCgroups(all []string, root string) []string {
	return slices.DeleteFunc(all, func(dir string) bool {
		name := filepath.Base(dir)
		return name == root || !strings.HasPrefix(name, "pod")
	})
}
