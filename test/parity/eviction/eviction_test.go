package eviction

import (
	"context"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	own "github.com/wardlet/wardlet/core/eviction"
	"github.com/wardlet/wardlet/core/eviction/threshold"
)

// worlds is the number of nodes that are compared.
const worlds = 10_000

// compare plays a world on both sides. It returns the first pass in which they differ, and the
// results there; -1 for none. each is called for each pass of a kubelet.
func compare(w *world, fault func(*own.Config), each func(*result)) (at int, theirs, ours string, err error) {
	k, err := newTheirs(w)
	if err != nil {
		return 0, "", "", err
	}
	o := newOurs(w, fault)
	for i := range w.steps {
		want, got := k.pass(&w.steps[i]), o.pass(&w.steps[i])
		if each != nil {
			each(want)
		}
		if want.String() != got.String() {
			return i, want.String(), got.String(), nil
		}
	}
	return -1, "", "", nil
}

func TestAKubeletEvictsTheSame(t *testing.T) {
	t.Parallel()
	passes, evictions, pressure, reclaims := 0, 0, 0, 0
	for seed := range uint64(worlds) {
		w := worldOf(seed)
		at, theirs, ours, err := compare(w, nil, func(r *result) {
			passes++
			if r.evicted != nil {
				evictions++
			}
			if r.conditions != "" {
				pressure++
			}
			if r.reclaimed {
				reclaims++
			}
		})
		if err != nil || at >= 0 {
			t.Fatalf("seed %d, pass %d: error %v, a kubelet:\n  %s\nand Wardlet:\n  %s\nthresholds %+v, dedicated %v", seed, at, err, theirs, ours, w.settings, w.dedicated)
		}
	}
	t.Logf("%d worlds, %d passes, %d under pressure, %d that reclaim, %d evictions", worlds, passes, pressure, reclaims, evictions)
	if evictions < worlds/4 || reclaims < worlds/20 {
		t.Errorf("only %d evictions, and only %d passes that reclaim", evictions, reclaims)
	}
}

// otherNode changes what Wardlet reads.
type otherNode struct {
	own.Node
	usage func(own.Usage) own.Usage
	seen  func(own.Observations)
}

func (n otherNode) Usage(ctx context.Context, pods []*v1.Pod, of threshold.Signal) map[types.UID]own.Usage {
	all := n.Node.Usage(ctx, pods, of)
	for uid, u := range all {
		if n.usage != nil {
			all[uid] = n.usage(u)
		}
	}
	return all
}

func (n otherNode) Observe(ctx context.Context) own.Observations {
	seen := n.Node.Observe(ctx)
	if n.seen != nil {
		n.seen(seen)
	}
	return seen
}

// TestTheComparisonFindsFaults shows Wardlet another node or other settings than the kubelet. The
// comparison must report a difference.
func TestTheComparisonFindsFaults(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(*own.Config){
		"every pod is critical": func(c *own.Config) { c.Critical = func(*v1.Pod) bool { return true } },
		"no pod is critical":    func(c *own.Config) { c.Critical = func(*v1.Pod) bool { return false } },
		"another grace period":  func(c *own.Config) { c.MaxPodGrace++ },
		"a longer transition":   func(c *own.Config) { c.Transition += 5 * time.Second },
		"nothing is reclaimed":  func(c *own.Config) { c.Reclaim = nil },
		"no usage is known": func(c *own.Config) {
			c.Node = otherNode{Node: c.Node, usage: func(own.Usage) own.Usage { return own.Usage{Unknown: true} }}
		},
		"usage of one size": func(c *own.Config) {
			c.Node = otherNode{Node: c.Node, usage: func(u own.Usage) own.Usage { u.Total = 1 << 30; return u }}
		},
		"containers are unknown": func(c *own.Config) {
			c.Node = otherNode{Node: c.Node, usage: func(u own.Usage) own.Usage { u.Containers = nil; return u }}
		},
		"memory cannot be read": func(c *own.Config) {
			c.Node = otherNode{Node: c.Node, seen: func(o own.Observations) { delete(o, threshold.MemoryAvailable) }}
		},
		"no minimum reclaim": func(c *own.Config) {
			for i := range c.Thresholds {
				c.Thresholds[i].Reclaim = nil
			}
		},
		"no grace period": func(c *own.Config) {
			for i := range c.Thresholds {
				c.Thresholds[i].Grace = 0
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := 0
			for seed := range uint64(500) {
				at, _, _, err := compare(worldOf(seed), fault, nil)
				if err != nil {
					t.Fatal(err)
				}
				if at >= 0 {
					found++
				}
			}
			if found == 0 {
				t.Error("none of 500 worlds differs")
			}
		})
	}
}
