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

const (
	// gonePatience is how long something of the agent's may stay before that is
	// an error and not only a missed limit.
	gonePatience = 30 * time.Second
	// look is how often it is looked.
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

// left names one thing that is left, empty for nothing. The runtime is asked
// last, as that is the only look that costs it something.
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

// podCgroups are those of pods, among the root of that name and all below it.
func podCgroups(all []string, root string) []string {
	return slices.DeleteFunc(all, func(dir string) bool {
		name := filepath.Base(dir)
		return name == root || !strings.HasPrefix(name, "pod")
	})
}
