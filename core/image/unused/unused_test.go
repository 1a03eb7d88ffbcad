package unused

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/wardlet/wardlet/core/internal/filesystem"
	"github.com/wardlet/wardlet/core/pod"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// node is a runtime with images of 10 bytes, on a file system of 1000 bytes.
type node struct {
	mu     sync.Mutex
	images []pod.Image
	used   map[string]bool
	wanted []string
	// available is the space that is available.
	available, capacity int64
	// fails is the method that fails.
	fails   string
	removed []string
	reasons []string
	events  []string
	log     bytes.Buffer
}

// failure returns the error of a method. The caller must hold mu.
func (n *node) failure(method string) error {
	switch n.fails {
	case method:
		return errors.New(method + " fails")
	case method + " for this name":
		return fmt.Errorf("look up the image: %w", status.Error(codes.Unknown, "ambiguous"))
	}
	return nil
}

func (n *node) Images(context.Context) ([]pod.Image, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.images), n.failure("Images")
}

func (n *node) UsedImages(context.Context) (map[string]bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.used, n.failure("UsedImages")
}

func (n *node) Image(_ context.Context, ref string) (*pod.Image, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, i := range n.images {
		if i.ID == ref || slices.Contains(i.Names, "registry.example/"+ref+":latest") {
			return &i, nil
		}
	}
	return nil, n.failure("Image")
}

func (n *node) RemoveImage(_ context.Context, id string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.failure("RemoveImage"); err != nil {
		return err
	}
	n.removed = append(n.removed, id)
	n.images = slices.DeleteFunc(n.images, func(i pod.Image) bool { return i.ID == id })
	n.available += 10
	return nil
}

func (n *node) ImageStore(context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return "/images", n.failure("ImageStore")
}

// newNode returns a node with images that are named by letters, and a collector that has observed
// them.
func newNode(images string, change func(cfg *Config)) (*node, *Collector) {
	n := &node{used: map[string]bool{}, available: 500, capacity: 1000}
	n.add(images)
	cfg := Config{
		High: 85, Low: 80, MinAge: 2 * time.Minute, Runtime: n, Wanted: func() []string {
			n.mu.Lock()
			defer n.mu.Unlock()
			return n.wanted
		},
		NodeEvent: func(reason, message string) { n.events = append(n.events, reason+": "+message) },
		Removed:   func(reason string) { n.reasons = append(n.reasons, reason) },
		Log:       slog.New(slog.NewTextHandler(&n.log, nil)), Now: time.Now,
	}
	if change != nil {
		change(&cfg)
	}
	c := New(cfg)
	c.files.ReadFunc = func(string) (filesystem.State, error) {
		n.mu.Lock()
		defer n.mu.Unlock()
		return filesystem.State{Capacity: n.capacity, Available: n.available}, n.failure("files")
	}
	return n, c
}

func (n *node) add(images string) {
	for name := range strings.SplitSeq(images, "") {
		n.images = append(n.images, pod.Image{ID: name, Names: []string{"registry.example/" + name + ":latest"}, SizeBytes: 10})
	}
}

// run runs c for a time, and changes the node before each pass.
func run(t *testing.T, c *Collector, passes int, before func(pass int)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.Run(ctx)
	}()
	synctest.Wait()
	for pass := range passes {
		if before != nil {
			before(pass)
		}
		time.Sleep(period)
		synctest.Wait()
	}
	cancel()
	<-ended
}

func TestCollector_Run(t *testing.T) {
	t.Parallel()
	const full, filled = "bytes should be freed", 101 // 90 % are in use
	for name, test := range map[string]struct {
		images string
		config func(cfg *Config)
		// before changes the node before a pass.
		before func(n *node, pass int)
		passes int
		// removed are the images that are removed, in order, and events are parts of the events.
		removed, reason string
		events          []string
	}{
		"enough space": {images: "abc", passes: 3},
		"too full": {
			images: "abcdefghijklmn", passes: 1, removed: "abcdefghij", reason: ReasonSpace,
			before: func(n *node, _ int) { n.available = filled },
		},
		"just full enough": {
			images: "abcdefgh", passes: 1, removed: "abcde", reason: ReasonSpace,
			before: func(n *node, _ int) { n.available = 150 },
		},
		"just not full": {images: "abc", passes: 1, before: func(n *node, _ int) { n.available = 160 }},
		"never for space": {
			images: "abc", passes: 1, config: func(cfg *Config) { cfg.High = 100 },
			before: func(n *node, _ int) { n.available = 0 },
		},
		"not enough": {
			images: "ab", passes: 2, removed: "ab", reason: ReasonSpace, events: []string{full, full, "ImageGCFailed: unused images have 0 bytes of the "},
			before: func(n *node, _ int) { n.available = filled },
		},
		"the least recently used first": {
			images: "abc", passes: 2, removed: "ca", reason: ReasonSpace,
			before: func(n *node, pass int) {
				n.used = []map[string]bool{{"a": true, "registry.example/b:latest": true}, {"b": true}}[pass]
				if pass == 1 {
					n.available = 150
				}
			},
			events: []string{full},
		},
		"what is used, pinned and wanted": {
			images: "abcd", passes: 1, removed: "d", reason: ReasonSpace, events: []string{full},
			before: func(n *node, _ int) {
				n.available, n.used, n.wanted, n.images[2].Pinned = filled, map[string]bool{"a": true}, []string{"gone", "b"}, true
			},
		},
		"pulled a moment ago": {
			images: "a", passes: 2, removed: "ab", reason: ReasonSpace, events: []string{full, full, "ImageGCFailed"},
			config: func(cfg *Config) { cfg.MinAge = 4 * time.Minute },
			before: func(n *node, pass int) {
				n.available = filled
				if pass == 0 {
					n.add("b")
				}
			},
		},
		"unused for too long": {
			images: "ab", passes: 4, removed: "a", reason: ReasonAge, config: func(cfg *Config) { cfg.MaxAge = 19 * time.Minute },
			before: func(n *node, pass int) {
				n.used = map[string]bool{"b": pass == 0}
				if pass == 0 {
					n.add("c")
				}
			},
		},
		"an unknown capacity": {
			images: "a", passes: 1, before: func(n *node, _ int) { n.capacity, n.available = 0, 0 },
			events: []string{"InvalidDiskCapacity: the file system of images, /images, has the capacity 0"},
		},
		"an observation that fails": {
			images: "a", passes: 2, before: func(n *node, _ int) { n.available, n.fails = filled, "UsedImages" },
			events: []string{"ImageGCFailed: UsedImages fails"},
		},
		"a wanted image that cannot be looked up": {
			images: "ab", passes: 2, before: func(n *node, _ int) { n.available, n.fails, n.wanted = filled, "Image", []string{"x"} },
			events: []string{"ImageGCFailed: Image fails"},
		},
		"a wanted name that means two images": {
			images: "ab", passes: 1, removed: "b", reason: ReasonSpace, events: []string{full},
			before: func(n *node, _ int) {
				n.available, n.fails, n.wanted = filled, "Image for this name", []string{"a", "x"}
			},
		},
		"a removal that fails": {
			images: "ab", passes: 2, before: func(n *node, _ int) { n.available, n.fails = filled, "RemoveImage" },
			events: []string{"ImageGCFailed: RemoveImage fails"},
		},
		"a file system that cannot be read": {
			images: "ab", passes: 2, before: func(n *node, _ int) { n.available, n.fails = filled, "files" },
			events: []string{"ImageGCFailed: files fails"},
		},
		"one failure": {
			images: "ab", passes: 2, before: func(n *node, pass int) { n.fails = []string{"Images", ""}[pass] },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n, c := newNode(test.images, test.config)
				run(t, c, test.passes, func(pass int) {
					n.mu.Lock()
					defer n.mu.Unlock()
					if test.before != nil {
						test.before(n, pass)
					}
				})
				if got := strings.Join(n.removed, ""); got != test.removed {
					t.Errorf("removed %q, want %q", got, test.removed)
				}
				for _, reason := range n.reasons {
					if reason != test.reason {
						t.Errorf("reason %s", reason)
					}
				}
				if len(n.events) != len(test.events) {
					t.Fatalf("events %q", n.events)
				}
				for i, want := range test.events {
					if !strings.Contains(n.events[i], want) {
						t.Errorf("event %q, want %q", n.events[i], want)
					}
				}
			})
		})
	}
}

func TestCollector_RemoveAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, c := newNode("abc", nil)
		n.used["b"] = true
		if err := c.RemoveAll(t.Context()); err != nil || fmt.Sprint(n.removed, n.reasons) != "[a c] [pressure pressure]" {
			t.Errorf("removed %v for %v, %v", n.removed, n.reasons, err)
		}
		n.add("d")
		if err := c.RemoveAll(t.Context()); err != nil || len(n.removed) != 2 {
			t.Errorf("an image that was just pulled: removed %v, %v", n.removed, err)
		}
		time.Sleep(2 * time.Minute)
		n.fails = "RemoveImage"
		if err := c.RemoveAll(t.Context()); err == nil || len(n.removed) != 2 {
			t.Errorf("removed %v, %v", n.removed, err)
		}
		n.fails = ""
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.RemoveAll(ended); !errors.Is(err, context.Canceled) || len(n.removed) != 2 {
			t.Errorf("removed %v, %v", n.removed, err)
		}
	})
}

// TestCollector_RemoveAll_newPods: an image stays for a pod that arrives while others are removed.
func TestCollector_RemoveAll_newPods(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, c := newNode("abc", nil)
		c.cfg.Removed = func(string) { n.wanted = []string{"b", "registry.example/c"} }
		if err := c.RemoveAll(t.Context()); err != nil || fmt.Sprint(n.removed) != "[a]" {
			t.Errorf("removed %v, %v", n.removed, err)
		}
	})
}

func TestWholeName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"nginx": "docker.io/library/nginx:latest", "nginx:1": "docker.io/library/nginx:1", "org/app:1": "docker.io/org/app:1",
		"registry.example:5000/a/b": "registry.example:5000/a/b:latest", "a@sha256:" + strings.Repeat("0", 64): "docker.io/library/a@sha256:" + strings.Repeat("0", 64),
		"Not valid": "", "": "",
	} {
		if got := wholeName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestCollector_RemoveAll_waits: eviction waits for its turn, but not for longer than its time.
func TestCollector_RemoveAll_waits(t *testing.T) {
	t.Parallel()
	_, c := newNode("a", nil)
	c.turn <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.RemoveAll(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
