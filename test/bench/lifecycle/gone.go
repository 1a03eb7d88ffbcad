package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
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
	left, err := leftIn(a.traces)
	if left != "" || err != nil {
		return left, err
	}
	roots, err := hierarchies()
	if err != nil {
		return "", err
	}
	for _, root := range roots {
		if left, err := podCgroup(filepath.Join(root, a.cgroup)); left != "" || err != nil {
			return left, err
		}
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

// leftIn names an entry of one of the directories, which need not exist.
func leftIn(dirs []string) (string, error) {
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if len(entries) > 0 {
			return filepath.Join(dir, entries[0].Name()), nil
		}
	}
	return "", nil
}

// podCgroup names a pod's cgroup below the root of all.
func podCgroup(root string) (string, error) {
	dirs, err := dirsBelow(root)
	for _, dir := range dirs {
		if dir != root && strings.HasPrefix(filepath.Base(dir), "pod") {
			return dir, nil
		}
	}
	return "", err
}
