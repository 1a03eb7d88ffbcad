package image

import (
	"context"
	"log/slog"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// node is a runtime in memory. Tests in a synctest bubble cannot use a socket.
type node struct {
	mu      sync.Mutex
	present map[string]bool
	used    int64
	store   error // the error of reading the image file system
	pulls   []string
	last    string // the image that every container ran last
	// pull is called for every pull of an image.
	pull func(ctx context.Context, name string) error
}

func (n *node) Image(_ context.Context, ref string) (*pod.Image, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.present[ref] {
		return nil, nil
	}
	return &pod.Image{ID: ref}, nil
}

func (n *node) PullImage(ctx context.Context, name string, _ *pod.RegistryAuth) (string, error) {
	n.mu.Lock()
	n.pulls = append(n.pulls, name)
	n.mu.Unlock()
	if err := n.pull(ctx, name); err != nil {
		return "", err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.present[name] = true
	return name, nil
}

func (n *node) ImageStoreBytes(context.Context) (int64, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.used, n.store
}

func (n *node) LastImage(context.Context, *v1.Pod, *v1.Container) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.last, nil
}

func (n *node) grow(by int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.used += by
}

// memory is a store of records.
type memory struct{}

func (memory) Put(*state.PulledImage) error         { return nil }
func (memory) Delete(string) error                  { return nil }
func (memory) Load() ([]state.PulledImage, []error) { return nil, nil }

// newPuller returns a Puller on a node whose pulls call pull.
func newPuller(pull func(ctx context.Context, name string) error, prepull ...string) (*Puller, *node) {
	n := &node{present: map[string]bool{}, pull: pull}
	return New(Config{
		Runtime: n, Records: memory{}, Owner: ownerOf, Parallel: 3, ProgressTimeout: 5 * time.Minute, OfflineFallback: true, Prepull: prepull,
		Events: &events{}, Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}), n
}
